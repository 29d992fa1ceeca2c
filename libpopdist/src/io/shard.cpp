// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/io/shard.h"

#include <numeric>
#include <span>

#include "common/base/random.h"
#include "libpopdist/src/plan/plan.h"

namespace popdist::io {

std::vector<std::uint32_t> epochOrder(std::size_t samples, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::uint32_t> order(samples);
  std::iota(order.begin(), order.end(), 0U);
  // Mixed one after the other: seed + epoch would make epoch 1 of seed 0 repeat epoch 0 of seed 1.
  pop::SplitMix64 mixed_seed(seed);
  pop::SplitMix64 mixed_epoch(mixed_seed.next() ^ epoch);
  pop::SplitMix64 random(mixed_epoch.next());
  pop::shuffle(std::span(order), random);
  return order;
}

std::size_t trainingSteps(const Shard& shard) {
  // Not samples / (replicas * batch_size), whose product could overflow; the quotient is the same.
  return shard.samples / shard.batch_size / static_cast<std::size_t>(shard.replicas);
}

std::vector<std::uint32_t> trainingSamples(const Shard& shard, std::uint64_t seed, std::uint64_t epoch) {
  const std::size_t steps = trainingSteps(shard);
  const auto replicas = static_cast<std::size_t>(shard.replicas);
  const auto replica = static_cast<std::size_t>(shard.replica);
  const std::vector<std::uint32_t> order = epochOrder(shard.samples, seed, epoch);
  std::vector<std::uint32_t> mine;
  mine.reserve(steps * shard.batch_size);
  for (std::size_t step = 0; step < steps; ++step) {
    const auto batch =
        std::span(order).subspan((step * replicas + replica) * shard.batch_size, shard.batch_size);
    mine.insert(mine.end(), batch.begin(), batch.end());
  }
  return mine;
}

std::vector<std::uint32_t> evaluationSamples(const Shard& shard) {
  const plan::Range block = plan::blockRange(shard.samples, shard.replicas, shard.replica);
  std::vector<std::uint32_t> mine(block.count);
  std::iota(mine.begin(), mine.end(), static_cast<std::uint32_t>(block.begin));
  return mine;
}

std::size_t evaluationSteps(const Shard& shard) {
  const std::size_t count = plan::blockRange(shard.samples, shard.replicas, shard.replica).count;
  return count / shard.batch_size + (count % shard.batch_size == 0 ? 0 : 1);
}

}  // namespace popdist::io
