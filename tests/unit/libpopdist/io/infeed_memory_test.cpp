// SPDX-License-Identifier: Apache-2.0
// What an infeed takes of memory, as popdist/io.hpp promises it.
#include <gtest/gtest.h>

#include <memory>

#include "popdist/io.hpp"
#include "tests/testing/allocation_peak.h"

namespace popdist::io {
namespace {

constexpr std::size_t kSamples = 100'000;
constexpr std::size_t kMostBytesOfTheRest = 20'000;  // batches of 8 KB in all, its thread and queue

class ConstantDataset final : public Dataset {
 public:
  std::size_t size() const override { return kSamples; }
  std::size_t featureCount() const override { return 1; }
  void read(std::size_t, std::span<float> features, std::int32_t& label) const override {
    features[0] = 1.0F;
    label = 1;
  }
};

/// The most that an infeed takes at once in three epochs.
std::size_t peakOf(const InfeedOptions& options) {
  const auto dataset = std::make_shared<ConstantDataset>();
  const pop::testing::AllocationPeak peak;
  Infeed infeed(dataset, options);
  for (const std::uint64_t epoch : {0U, 1U, 2U}) {
    infeed.startEpoch(epoch);
    while (infeed.next() != nullptr) {
    }
  }
  return peak.bytes();
}

TEST(InfeedMemory, IsFourBytesForEachOfItsSamplesAndForEachOfAllWhileAnEpochStarts) {
  EXPECT_LE(peakOf({.batch_size = 250}), 4 * kSamples + 4 * kSamples + kMostBytesOfTheRest);
  EXPECT_LE(peakOf({.replicas = 4, .batch_size = 250}),
            4 * kSamples / 4 + 4 * kSamples + kMostBytesOfTheRest);
}

TEST(InfeedMemory, OfAnEvaluationIsFourBytesForEachOfItsSamples) {
  EXPECT_LE(peakOf({.replicas = 4, .batch_size = 250, .sharding = Sharding::kEvaluation}),
            4 * kSamples / 4 + kMostBytesOfTheRest);
}

}  // namespace
}  // namespace popdist::io
