// SPDX-License-Identifier: Apache-2.0
// What an all-reduce would take if it did no more than some simple work, and that as fast as this machine was
// measured to do it beside: yardsticks, and no bounds. A sum that finds its data in a core's own caches moves
// fewer bytes than they say, and takes less. Pure. P ranks, S bytes.
#pragma once

#include <cstddef>
#include <optional>

#include "bench/collectives_speed/cell.h"

namespace pop::bench::collectives {

/// Bytes of the caches that copies are measured in.
struct Caches {
  std::size_t private_of_core = 0;  // the last one that a core has for itself
  std::size_t shared = 0;           // of all cores
};
Caches cachesOfThisMachine();

/// Of the two buffers of each core's copy, so that all copies together stay where the ranks' P * S bytes are:
/// in the cores' own caches, in the shared one, or in memory.
std::size_t copyBytes(const Cell& cell, const Caches& caches, int cores);
/// The same for what stays in the shared cache.
std::size_t copyBytesInSharedCache(const Caches& caches);

/// Rates in GB/s, times in microseconds; medians over the batches of the cell's runs, of the best way or send
/// size. What was not measured is nothing.
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
  /// T_priv = T_heap + 2 (P - 1) * S / B_3: and what others reduce is exported and imported through the
  /// cache.
  std::optional<double> privateMemoryUs() const;
  /// 2 (P - 1) * S / (2 * duplex): all traffic of all ranks crosses the same loopback interface.
  std::optional<double> tcpUs() const;
  /// An all-reduce of two ranks: both have sent S bytes and received as many. Of all yardsticks the nearest
  /// to a bound: who waits for all of the other's bytes cannot do with less.
  std::optional<double> swapUs() const;
  /// Small messages: one flag while every rank has a core; else every rank of a core must be scheduled once.
  std::optional<double> smallUs() const;
};

}  // namespace pop::bench::collectives
