// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/yardsticks.h"

#include <unistd.h>

namespace pop::bench::collectives {
namespace {

constexpr double kMicrosecondsPerGigabyte = 1e-3;  // of a byte at 1 GB/s

double allBytes(const Cell& cell) {
  return static_cast<double>(cell.ranks) * static_cast<double>(cell.bytes);
}

// Twice: for the reduction and for the return of the result.
double foreignBytes(const Cell& cell) {
  return 2 * (allBytes(cell) - static_cast<double>(cell.bytes));
}

std::size_t cacheBytes(int name, std::size_t otherwise) {
  const long bytes = ::sysconf(name);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : otherwise;
}

}  // namespace

Caches cachesOfThisMachine() {
  return {cacheBytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20), cacheBytes(_SC_LEVEL3_CACHE_SIZE, 32 << 20)};
}

std::size_t copyBytes(const Cell& cell, const Caches& caches, int cores) {
  const auto data = static_cast<std::size_t>(cell.ranks) * cell.bytes;
  if (data <= caches.private_of_core * static_cast<std::size_t>(cores)) return caches.private_of_core / 4;
  return data <= caches.shared ? copyBytesInSharedCache(caches) : caches.shared * 4;
}

std::size_t copyBytesInSharedCache(const Caches& caches) {
  return caches.shared / 8;
}

std::optional<double> CellLimits::sharedMemoryUs() const {
  if (!copy_where_data_is) return std::nullopt;
  return allBytes(cell) / *copy_where_data_is * kMicrosecondsPerGigabyte;
}

std::optional<double> CellLimits::privateMemoryUs() const {
  if (!copy_where_data_is || !copy_in_shared_cache) return std::nullopt;
  return *sharedMemoryUs() + foreignBytes(cell) / *copy_in_shared_cache * kMicrosecondsPerGigabyte;
}

std::optional<double> CellLimits::tcpUs() const {
  if (!tcp_duplex) return std::nullopt;
  return foreignBytes(cell) / (2 * *tcp_duplex) * kMicrosecondsPerGigabyte;
}

std::optional<double> CellLimits::swapUs() const {
  return cell.operation == Operation::kAllReduce && cell.ranks == 2 ? tcp_swap : std::nullopt;
}

std::optional<double> CellLimits::smallUs() const {
  if (cell.ranks <= cores) return flag;
  if (!yield) return std::nullopt;
  return static_cast<double>(cell.ranks) / cores * *yield;
}

}  // namespace pop::bench::collectives
