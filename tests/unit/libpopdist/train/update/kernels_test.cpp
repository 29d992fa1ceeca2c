// SPDX-License-Identifier: Apache-2.0
// Every instruction set gives the same bits, whatever the length and the place of an array.
#include "libpopdist/train/update/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "common/base/random.h"

namespace popdist::train {
namespace {

using Floats = std::vector<float>;

Floats random(std::size_t count, std::uint64_t seed) {
  pop::SplitMix64 random(seed);
  Floats values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

/// All that the kernels make of `count` elements that begin at `offset` of their memory.
Floats results(const UpdateKernels& kernels, std::size_t offset, std::size_t count) {
  Floats update = random(offset + count, 1);
  Floats m = random(offset + count, 2);
  Floats v = random(offset + count, 3);
  for (float& each : v) each *= each;
  Floats value = random(offset + count, 4);
  float* const u = update.data() + offset;
  kernels.add(u, value.data() + offset, count, 0.01F);
  kernels.momentum(u, m.data() + offset, count, 0.9F);
  kernels.nesterov(u, m.data() + offset, count, 0.8F);
  kernels.adam(u, m.data() + offset, v.data() + offset, count,
               {.beta1 = 0.9F,
                .beta2 = 0.99F,
                .rest1 = 0.1F,
                .rest2 = 0.01F,
                .correction1 = 2,
                .correction2 = 5,
                .epsilon = 1e-8F});
  kernels.clip(u, count, 1.5F);
  kernels.scale(u, count, 0.3F);
  kernels.subtract(value.data() + offset, u, count);
  Floats all;
  for (const Floats* part : {&update, &m, &v, &value})
    all.insert(all.end(), part->begin() + static_cast<std::ptrdiff_t>(offset), part->end());
  all.push_back(static_cast<float>(kernels.squares(value.data() + offset, count)));
  return all;
}

TEST(UpdateKernels, GiveTheSameBitsOnEveryInstructionSet) {
  for (const reduce::Isa isa : reduce::availableIsas()) {
    for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 33U, 1000U, 4096U})
      EXPECT_EQ(results(kernelsOf(isa), 0, count), results(baselineUpdateKernels(), 0, count))
          << nameOf(isa) << ", " << count;
  }
}

TEST(UpdateKernels, SquaresDoNotDependOnThePlaceInMemory) {
  const Floats values = random(5000, 9);
  for (std::size_t offset = 1; offset < 16; ++offset) {
    Floats moved(offset, 0);
    moved.insert(moved.end(), values.begin(), values.end());
    EXPECT_EQ(kernels().squares(moved.data() + offset, values.size()),
              kernels().squares(values.data(), values.size()));
  }
}

TEST(UpdateKernels, FindWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const reduce::Isa isa : reduce::availableIsas()) {
    const UpdateKernels of = kernelsOf(isa);
    Floats values = random(100, 1);
    values[7] = std::numeric_limits<float>::max();
    EXPECT_TRUE(of.finite(values.data(), values.size()));
    for (const float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      for (const std::size_t place : {0U, 50U, 99U}) {
        Floats with = values;
        with[place] = bad;
        EXPECT_FALSE(of.finite(with.data(), with.size())) << bad << " at " << place;
      }
    }
  }
}

}  // namespace
}  // namespace popdist::train
