// SPDX-License-Identifier: Apache-2.0
// Which samples a replica reads: pure functions of (seed, epoch) and of global indices, so that every split
// of replicas over instances reads the same. The shuffle is global and comes before the sharding for that
// reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace popdist::io {

/// One replica's share of a dataset. 0 <= replica < replicas; batch_size >= 1; samples fit in 32 bits.
struct Shard {
  std::size_t samples = 0;  ///< of the whole dataset
  int replicas = 1;
  int replica = 0;
  std::size_t batch_size = 1;  ///< per replica
};

/// A permutation of 0 ... samples - 1, each equally likely. Part of the library's format: the same (samples,
/// seed, epoch) gives the same order in every version.
std::vector<std::uint32_t> epochOrder(std::size_t samples, std::uint64_t seed, std::uint64_t epoch);

/// Steps of a training epoch, the same for all replicas: samples / (replicas * batch_size), rounded down.
std::size_t trainingSteps(const Shard& shard);

/// The replica's samples of one training epoch: batch_size for each step, in the order of the steps.
std::vector<std::uint32_t> trainingSamples(const Shard& shard, std::uint64_t seed, std::uint64_t epoch);

/// The replica's contiguous block of all samples; blocks cover each sample once and differ by at most one.
std::vector<std::uint32_t> evaluationSamples(const Shard& shard);

/// Batches of the replica's block, the last one possibly shorter.
std::size_t evaluationSteps(const Shard& shard);

}  // namespace popdist::io
