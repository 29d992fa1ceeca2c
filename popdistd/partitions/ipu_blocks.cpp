// SPDX-License-Identifier: Apache-2.0
#include "popdistd/partitions/ipu_blocks.h"

#include <algorithm>
#include <array>
#include <bit>

#include "common/base/check.h"

namespace pop::vipu {
namespace {

constexpr int kLevels = 7;  // blocks of 1, 2, 4 ... 64 IPUs

// The IPUs at which a block of 2^level may begin.
constexpr std::array<IpuMask, kLevels> kStarts{~IpuMask{0},
                                               0x5555555555555555U,
                                               0x1111111111111111U,
                                               0x0101010101010101U,
                                               0x0001000100010001U,
                                               0x0000000100000001U,
                                               1U};

// By level: the first IPU of each block that is free in whole.
std::array<IpuMask, kLevels> freeBlocks(IpuMask free) {
  std::array<IpuMask, kLevels> blocks{free};
  for (std::size_t level = 1; level < kLevels; ++level) {
    const IpuMask below = blocks[level - 1];
    blocks[level] = below & (below >> (1U << (level - 1))) & kStarts[level];
  }
  return blocks;
}

// Free IPUs in ILDs first … first + segments - 1.
IpuMask freeInAll(std::span<const IpuMask> free, std::size_t first, int segments) {
  IpuMask all = ~IpuMask{0};
  for (const IpuMask ild : free.subspan(first, static_cast<std::size_t>(segments))) all &= ild;
  return all;
}

std::size_t windows(std::span<const IpuMask> free, int segments) {
  const auto needed = static_cast<std::size_t>(segments);
  return free.size() < needed ? 0 : free.size() - needed + 1;
}

// The first block of 2^level whose whole free block has 2^level_of_whole IPUs.
std::optional<int> cutOf(const std::array<IpuMask, kLevels>& blocks, std::size_t level_of_whole) {
  IpuMask whole = blocks[level_of_whole];
  if (level_of_whole + 1 < kLevels) {
    const IpuMask larger = blocks[level_of_whole + 1];
    whole &= ~(larger | larger << (1U << level_of_whole));
  }
  return whole == 0 ? std::nullopt : std::optional(std::countr_zero(whole));
}

}  // namespace

std::optional<BlockFit> bestFit(std::span<const IpuMask> free, int segments, int ipus) {
  POP_CHECK(segments >= 1 && ipus >= 1 && ipus <= kMaxIldIpus &&
            std::has_single_bit(static_cast<unsigned>(ipus)));
  const auto level = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(ipus)));
  std::optional<BlockFit> best;
  for (std::size_t ild = 0; ild < windows(free, segments); ++ild) {
    const auto blocks = freeBlocks(freeInAll(free, ild, segments));
    if (blocks[level] == 0) continue;
    for (std::size_t whole = level; whole < kLevels && (!best || 1 << whole < best->taken_from); ++whole) {
      const std::optional<int> first = cutOf(blocks, whole);
      if (first) best = BlockFit{1 << whole, {static_cast<int>(ild), segments, *first, ipus}};
    }
    if (best && best->taken_from == ipus) break;  // none is smaller
  }
  return best;
}

int largestBlock(std::span<const IpuMask> free, int segments) {
  int largest = 0;
  for (std::size_t ild = 0; ild < windows(free, segments); ++ild) {
    const auto blocks = freeBlocks(freeInAll(free, ild, segments));
    for (std::size_t level = 0; level < kLevels; ++level)
      if (blocks[level] != 0) largest = std::max(largest, 1 << level);
  }
  return largest;
}

int countIpus(std::span<const IpuMask> ipus) {
  int count = 0;
  for (const IpuMask ild : ipus) count += std::popcount(ild);
  return count;
}

double fragmentation(std::span<const IpuMask> free, int ild_ipus) {
  const int together = std::min(countIpus(free), ild_ipus);
  if (together == 0) return 0;
  const auto largest_possible = static_cast<int>(std::bit_floor(static_cast<unsigned>(together)));
  return 1.0 - static_cast<double>(largestBlock(free)) / largest_possible;
}

}  // namespace pop::vipu
