// SPDX-License-Identifier: Apache-2.0
// Two ranks sum their vectors where they lie, each sending what it overwrites with the sum: over rings that
// hold a small part of it, of other sizes for both directions, with turns in any order.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/collectives/messages/exec/rank_progress.h"
#include "libpopdist/collectives/plan/recursive_doubling_all_reduce.h"
#include "tests/unit/libpopdist/collectives/messages/exec/narrow_channel.h"

namespace popdist::exec {
namespace {

using ExchangedElements = std::vector<std::int64_t>;

ExchangedElements valuesOf(int rank, std::size_t count) {
  ExchangedElements values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int64_t>(i * 2 + 1) << (20 * rank);
  return values;
}

class Exchange {
 public:
  Exchange(std::size_t count, std::size_t bytes_there, std::size_t bytes_back)
      : call_{.count = count, .type = Type::kInt64},
        there_(bytes_there),
        back_(bytes_back),
        data_{valuesOf(0, count), valuesOf(1, count)},
        plans_{plan::planRecursiveDoublingAllReduce(0, 2, count),
               plan::planRecursiveDoublingAllReduce(1, 2, count)} {}

  bool poll(std::size_t rank) { return (rank == 0 ? zero_ : one_).poll(); }
  bool done() const { return zero_.done() && one_.done(); }
  bool correct() const {
    ExchangedElements sum = valuesOf(0, call_.count);
    const ExchangedElements other = valuesOf(1, call_.count);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
    return done() && data_[0] == sum && data_[1] == sum;
  }

 private:
  RankWork workOf(int rank, End& end) {
    const auto index = static_cast<std::size_t>(rank);
    return {.rank = rank, .plan = &plans_[index], .output = data_[index].data(), .endpoint = &end};
  }

  const Waiting waiting_;
  const Call call_;
  Channel there_;
  Channel back_;
  End ends_[2] = {{there_, back_}, {back_, there_}};
  ExchangedElements data_[2];
  const plan::Plan plans_[2];
  RankProgress zero_{call_, workOf(0, ends_[0]), waiting_};
  RankProgress one_{call_, workOf(1, ends_[1]), waiting_};
};

TEST(Exchange, OfOneRangeKeepsNothingBesideIt) {
  EXPECT_EQ(plan::planRecursiveDoublingAllReduce(0, 2, 1000).scratch_count, 0U);
}

// Both rings are full at once: who has sent more takes what the other has sent.
TEST(Exchange, IsNoDeadlockWhereBothRingsAreFull) {
  for (std::size_t count = 1; count <= 100; ++count) {
    Exchange exchange(count, 128, 1024);
    while (!exchange.done() && (exchange.poll(0) || exchange.poll(1))) {
    }
    ASSERT_TRUE(exchange.correct()) << count;
  }
}

TEST(Exchange, OverwritesOnlyWhatHasBeenSentInWhateverTurns) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    pop::SplitMix64 random(seed);
    const std::size_t bytes_there = std::size_t{128} << random.below(5);
    const std::size_t bytes_back = std::size_t{128} << random.below(5);
    Exchange exchange(1 + static_cast<std::size_t>(random.below(500)), bytes_there, bytes_back);
    while (!exchange.done()) {
      if (exchange.poll(random.below(2)) || exchange.poll(0) || exchange.poll(1)) continue;
      break;
    }
    ASSERT_TRUE(exchange.correct()) << "seed " << seed << ", rings of " << bytes_there << " and "
                                    << bytes_back << " bytes";
  }
}

}  // namespace
}  // namespace popdist::exec
