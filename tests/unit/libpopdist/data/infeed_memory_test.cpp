// SPDX-License-Identifier: Apache-2.0
// An infeed's memory, as popdist/infeed.hpp promises it.
#include <gtest/gtest.h>

#include "popdist/io.hpp"
#include "tests/testing/allocation_peak.h"
#include "tests/unit/libpopdist/data/datasets.h"

namespace popdist::io {
namespace {

constexpr std::size_t kBatchBytes = 1000 * 12;
constexpr std::size_t kMostBytesOfTheRest = 20'000;  // its threads and queue

TEST(InfeedMemory, IsWhatItReadsAheadAndNothingForTheDatasetsSize) {
  for (const int depth : {1, 3, 20}) {
    const pop::testing::AllocationPeak peak;
    Infeed infeed(testing::counting(1'000'000).shuffle().batch(1000).prefetch(depth));
    for (int i = 0; i < 200; ++i) infeed.next();
    EXPECT_LE(peak.bytes(), (static_cast<std::size_t>(depth) + 1) * kBatchBytes + kMostBytesOfTheRest)
        << depth;
  }
}

}  // namespace
}  // namespace popdist::io
