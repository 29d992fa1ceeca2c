// SPDX-License-Identifier: Apache-2.0
// Yardsticks: the time of an all-reduce that did only some simple work, as fast as this machine did that work
// at the time. They are not bounds: a sum whose data is in a core's own caches moves fewer bytes and takes
// less. Pure. P ranks, S bytes.
#pragma once

#include <cstddef>
#include <optional>

#include "bench/collectives_speed/cell.h"

namespace pop::bench::collectives {

/// Sizes of the caches in which copies are measured, in bytes.
struct Caches {
  std::size_t private_of_core = 0;  // the last one that a core has for itself
  std::size_t shared = 0;           // of all cores
};
Caches cachesOfThisMachine();

/// Size of each core's two copy buffers, chosen so that all copies together stay where the ranks' P * S bytes
/// are: in the cores' own caches, in the shared one, or in memory.
std::size_t copyBytes(const Cell& cell, const Caches& caches, int cores);
/// The same for buffers that stay in the shared cache.
std::size_t copyBytesInSharedCache(const Caches& caches);

/// Rates in GB/s, times in microseconds; medians over the batches of the cell's runs, of the best method or
/// send size. Figures that were not measured are empty.
struct CellLimits {
  Cell cell;
  int cores = 1;
  std::optional<double> copy_where_data_is;    // B_u: all cores copy, in the cache or memory of P * S bytes
  std::optional<double> copy_in_shared_cache;  // B_3
  std::optional<double> tcp_stream;            // one direction
  std::optional<double> tcp_duplex;            // each direction of two
  std::optional<double> tcp_swap;              // of S bytes, both ways
  std::optional<double> flag;                  // from core to core
  std::optional<double> yield;                 // from thread to thread on one core

  /// T_heap = P * S / B_u: every byte of every rank is read once and written once.
  std::optional<double> sharedMemoryUs() const;
  /// T_priv = T_heap + 2 (P - 1) * S / B_3: the data that others reduce is also exported and imported through
  /// the cache.
  std::optional<double> privateMemoryUs() const;
  /// 2 (P - 1) * S / (2 * duplex): all traffic of all ranks crosses the same loopback interface.
  std::optional<double> tcpUs() const;
  /// An all-reduce of two ranks: both have sent S bytes and received as many. The nearest to a bound of all
  /// yardsticks, for algorithms that wait for all of the other rank's bytes.
  std::optional<double> swapUs() const;
  /// Small messages: one flag if every rank has a core; otherwise every rank of a core must be scheduled
  /// once.
  std::optional<double> smallUs() const;
};

}  // namespace pop::bench::collectives
