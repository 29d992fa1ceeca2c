// SPDX-License-Identifier: Apache-2.0
// What plans keep beside the caller's buffers does not grow with the vector, whatever the operation, the
// algorithm, the ranks and the length.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "libpopdist/collectives/choice/by_messages.h"
#include "libpopdist/collectives/plan/ring.h"

namespace popdist::choice {
namespace {

using plan::Buffer;
using plan::Operation;
using plan::Plan;
using plan::Slice;
using plan::Step;
using plan::StepKind;

struct Reach {
  std::size_t input = 0;   ///< elements
  std::size_t output = 0;  ///< likewise
};

// Of one rank's buffers, with `count` elements as the API counts them.
Reach buffersOf(Operation operation, int ranks, std::size_t count) {
  const std::size_t all = static_cast<std::size_t>(ranks) * count;
  switch (operation) {
    case Operation::kReduceScatter:
    case Operation::kScatter:
      return {all, count};
    case Operation::kAllGather:
    case Operation::kGather:
      return {count, all};
    case Operation::kAllToAll:
      return {all, all};
    case Operation::kBarrier:
      return {1, 0};
    default:
      return {count, count};
  }
}

// How far a plan reaches into each buffer; in scratch as into the others.
class Reached {
 public:
  explicit Reached(const Plan& plan) {
    for (const Step& step : plan.steps) {
      if (step.kind != StepKind::kRecv) reach(step.from, step.count);
      if (step.kind != StepKind::kSend) reach(step.to, step.count);
    }
  }
  std::size_t operator[](Buffer buffer) const { return far_[static_cast<std::size_t>(buffer)]; }

 private:
  void reach(const Slice& slice, std::size_t count) {
    std::size_t& far = far_[static_cast<std::size_t>(slice.buffer)];
    if (count > 0) far = std::max(far, slice.offset + count);
  }
  std::size_t far_[3] = {};
};

void expectBounded(const Request& request) {
  const Plan plan = planCollective(request);
  ASSERT_LE(plan.scratch_count * request.element_bytes, kMaxScratchBytes);
  const Reached reached(plan);
  const Reach buffers = buffersOf(request.operation, request.ranks, request.count);
  ASSERT_LE(reached[Buffer::kInput], buffers.input);
  ASSERT_LE(reached[Buffer::kOutput], buffers.output);
  ASSERT_LE(reached[Buffer::kScratch], plan.scratch_count);
}

// Of very long plans, which take a while, one that passes on and a root.
std::vector<int> ranksToAsk(int ranks, std::size_t count) {
  if (count > std::size_t{1} << 30) return {1, ranks - 1};
  return plan::naturalOrder(ranks);
}

class BoundedScratch : public ::testing::TestWithParam<std::size_t> {};

TEST_P(BoundedScratch, OfEveryOperationAlgorithmAndGroup) {
  for (int number = 0; number < static_cast<int>(Operation::kSendRecv); ++number) {
    const auto operation = static_cast<Operation>(number);
    for (const Algorithm algorithm : algorithmsOf(operation)) {
      for (int ranks = 2; ranks <= 9; ++ranks) {
        for (const int rank : ranksToAsk(ranks, GetParam())) {
          SCOPED_TRACE(std::string(nameOf(operation)) + ", " + nameOf(algorithm) + ", rank " +
                       std::to_string(rank) + " of " + std::to_string(ranks));
          ASSERT_NO_FATAL_FAILURE(expectBounded({.operation = operation,
                                                 .rank = rank,
                                                 .ranks = ranks,
                                                 .count = GetParam(),
                                                 .root = ranks - 1,
                                                 .element_bytes = 8,
                                                 .over_network = true,
                                                 .forced = algorithm}));
        }
      }
    }
  }
}

// The longest: 64 GiB of one vector, which would not do for 32 bits in any unit.
INSTANTIATE_TEST_SUITE_P(Counts, BoundedScratch,
                         ::testing::Values(0, 1, 1'000'003, std::size_t{1} << 28, std::size_t{1} << 33),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST(BoundedScratchOfSmallElements, IsTheSameInBytes) {
  for (const std::size_t element_bytes : {1U, 2U, 4U}) {
    for (const Operation operation : {Operation::kReduce, Operation::kReduceScatter, Operation::kAllReduce}) {
      ASSERT_NO_FATAL_FAILURE(expectBounded({.operation = operation,
                                             .rank = 2,
                                             .ranks = 5,
                                             .count = 100'000'000,
                                             .element_bytes = element_bytes}));
    }
  }
}

}  // namespace
}  // namespace popdist::choice
