// SPDX-License-Identifier: Apache-2.0
// Processes that hold several ranks each and run them in one call, as the Pod does with its replicas.
#include <gtest/gtest.h>

#include <vector>

#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/collectives/messages/exec/collective_samples.h"
#include "tests/unit/libpopdist/collectives/messages/exec/shm_call.h"

namespace popdist::exec {
namespace {

using plan::Operation;
using Split = std::vector<std::vector<int>>;

// The parts of one process.
struct Process {
  Process(const std::vector<int>& ranks, Operation operation, int all_ranks, std::size_t count)
      : ranks_(ranks) {
    for (const int rank : ranks) {
      samples.emplace_back(operation, rank, all_ranks, count, all_ranks - 1);
      inputs.push_back(samples.back().input());
      outputs.push_back(samples.back().untouchedOutput());
    }
  }

  std::vector<Part> parts() {
    std::vector<Part> all;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Elements<float>& output = samples[i].inPlace() ? inputs[i] : outputs[i];
      all.push_back({ranks_[i], inputs[i].data(), output.data()});
    }
    return all;
  }

  void expectResults() {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Elements<float>& output = samples[i].inPlace() ? inputs[i] : outputs[i];
      EXPECT_TRUE(output == samples[i].expected()) << "rank " << ranks_[i];
    }
  }

  std::vector<Samples<float>> samples;
  std::vector<Elements<float>> inputs;
  std::vector<Elements<float>> outputs;

 private:
  const std::vector<int> ranks_;
};

void expectExactResults(const Split& split, std::size_t count) {
  transport::ShmWorld world(split);
  testing::runThreads(static_cast<int>(split.size()), [&](int index) {
    std::uint64_t sequence = 0;
    for (const Operation operation : {Operation::kAllReduce, Operation::kReduceScatter, Operation::kAllGather,
                                      Operation::kBroadcast, Operation::kAllToAll}) {
      Process process(split[static_cast<std::size_t>(index)], operation, world.size(), count);
      const Failure failure = call(world,
                                   {.operation = operation,
                                    .type = Type::kFloat,
                                    .count = count,
                                    .root = world.size() - 1,
                                    .sequence = sequence++},
                                   process.parts());
      ASSERT_TRUE(failure.status.ok()) << failure.status.message();
      process.expectResults();
    }
  });
}

class SeveralLocalRanks : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SeveralLocalRanks, AreAllOfThem) {
  expectExactResults({{0, 1, 2, 3, 4, 5, 6, 7}}, GetParam());
}
TEST_P(SeveralLocalRanks, AreHalfOfThem) {
  expectExactResults({{0, 1, 2, 3}, {4, 5, 6, 7}}, GetParam());
}
TEST_P(SeveralLocalRanks, AreUnevenAndOutOfOrder) {
  expectExactResults({{3, 0}, {1}, {5, 2, 4}}, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Counts, SeveralLocalRanks, ::testing::Values(0, 1, 7, 1000, 100'003),
                         [](const auto& param_info) { return std::to_string(param_info.param); });

}  // namespace
}  // namespace popdist::exec
