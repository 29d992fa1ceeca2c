// SPDX-License-Identifier: Apache-2.0
// The goals, as tables. A cell's bytes are those of the whole vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "bench/collectives_speed/cell.h"
#include "bench/collectives_speed/contestants.h"
#include "bench/collectives_speed/options.h"

namespace pop::bench::collectives {

/// The rivals of a goal: the median of the fastest in the cell is divided by libpopdist's.
enum class Rival : std::uint8_t { kMpi, kOpenMpi, kMpich, kGloo, kOpenMpiTcp, kOpenMpiHosts };

inline constexpr int kAnyRanks = 0;
inline constexpr std::size_t kNoEnd = std::numeric_limits<std::size_t>::max();

/// Minimum of the rival's time divided by ours, for cells with these ranks and from `from` to `to` bytes.
struct RatioGoal {
  Operation operation;
  const char* ours;
  Rival rival;
  int ranks;
  std::size_t from, to;
  double at_least;
};

inline constexpr Operation kAllReduce = Operation::kAllReduce, kBroadcast = Operation::kBroadcast,
                           kAllGather = Operation::kAllGather, kReduceScatter = Operation::kReduceScatter,
                           kAllToAll = Operation::kAllToAll, kBarrier = Operation::kBarrier;
inline constexpr std::size_t k8B = 8, k64K = 64 * kKiB, k1M = kMiB, k16M = 16 * kMiB, k128M = 128 * kMiB;

inline constexpr RatioGoal kRatioGoals[] = {
    // Small messages: the time of one flag, or of one turn of the scheduler.
    {kAllReduce, kPrivate, Rival::kOpenMpi, 2, k8B, k8B, 1.2},
    {kAllReduce, kPrivate, Rival::kOpenMpi, 4, k8B, k8B, 1.3},
    {kAllReduce, kPrivate, Rival::kOpenMpi, 8, k8B, k8B, 1.25},
    {kAllReduce, kPrivate, Rival::kGloo, kAnyRanks, k8B, k8B, 400},
    {kBarrier, kPrivate, Rival::kOpenMpi, 2, 0, 0, 1.5},
    {kBarrier, kPrivate, Rival::kOpenMpi, 4, 0, 0, 1.7},
    {kBarrier, kPrivate, Rival::kOpenMpi, 8, 0, 0, 6},
    {kBarrier, kPrivate, Rival::kGloo, kAnyRanks, 0, 0, 1000},
    // All-reduce in ordinary memory.
    {kAllReduce, kPrivate, Rival::kMpi, 2, k64K, k64K, 3},
    {kAllReduce, kPrivate, Rival::kMpi, 2, k1M, k1M, 2.4},
    {kAllReduce, kPrivate, Rival::kMpi, 2, k16M, k16M, 2.5},
    {kAllReduce, kPrivate, Rival::kMpi, 2, k128M, k128M, 4.5},
    {kAllReduce, kPrivate, Rival::kMpi, 4, k64K, kNoEnd, 3.2},
    {kAllReduce, kPrivate, Rival::kMpi, 8, k64K, kNoEnd, 3},
    {kAllReduce, kPrivate, Rival::kGloo, 2, k64K, k64K, 60},
    {kAllReduce, kPrivate, Rival::kGloo, 2, k1M, k1M, 13},
    {kAllReduce, kPrivate, Rival::kGloo, 2, k16M, k16M, 10},
    {kAllReduce, kPrivate, Rival::kGloo, 2, k128M, k128M, 7},
    {kAllReduce, kPrivate, Rival::kGloo, 4, k64K, kNoEnd, 9},
    {kAllReduce, kPrivate, Rival::kGloo, 8, k64K, kNoEnd, 9},
    // All-reduce in shared buffers.
    {kAllReduce, kShared, Rival::kMpi, 2, k64K, k64K, 12},
    {kAllReduce, kShared, Rival::kMpi, 2, k1M, k1M, 8},
    {kAllReduce, kShared, Rival::kMpi, 2, k16M, k16M, 7},
    {kAllReduce, kShared, Rival::kMpi, 2, k128M, k128M, 7},
    {kAllReduce, kShared, Rival::kMpi, 4, k64K, k64K, 9},
    {kAllReduce, kShared, Rival::kMpi, 4, k1M, k1M, 10},
    {kAllReduce, kShared, Rival::kMpi, 4, k16M, k16M, 5},
    {kAllReduce, kShared, Rival::kMpi, 4, k128M, k128M, 8},
    {kAllReduce, kShared, Rival::kMpi, 8, k64K, k1M, 9},
    {kAllReduce, kShared, Rival::kMpi, 8, k16M, k16M, 6},
    {kAllReduce, kShared, Rival::kGloo, 2, k64K, k64K, 300},
    {kAllReduce, kShared, Rival::kGloo, 2, k1M, k1M, 45},
    {kAllReduce, kShared, Rival::kGloo, 2, k16M, k16M, 30},
    {kAllReduce, kShared, Rival::kGloo, 2, k128M, k128M, 10},
    {kAllReduce, kShared, Rival::kGloo, 4, k64K, k64K, 90},
    {kAllReduce, kShared, Rival::kGloo, 4, k1M, k1M, 60},
    {kAllReduce, kShared, Rival::kGloo, 4, k16M, k16M, 16},
    {kAllReduce, kShared, Rival::kGloo, 4, k128M, k128M, 11},
    {kAllReduce, kShared, Rival::kGloo, 8, k64K, k64K, 300},
    {kAllReduce, kShared, Rival::kGloo, 8, k1M, k1M, 100},
    {kAllReduce, kShared, Rival::kGloo, 8, k16M, k16M, 18},
    // The other operations in shared buffers.
    {kBroadcast, kShared, Rival::kMpi, 2, k1M, k1M, 2.8},
    {kBroadcast, kShared, Rival::kMpi, 2, k16M, k16M, 3.5},
    {kBroadcast, kShared, Rival::kMpi, 2, k128M, k128M, 4},
    {kBroadcast, kShared, Rival::kGloo, 2, k1M, k1M, 10},
    {kBroadcast, kShared, Rival::kGloo, 2, k16M, k16M, 8},
    {kBroadcast, kShared, Rival::kGloo, 2, k128M, k128M, 6},
    {kAllGather, kShared, Rival::kMpi, 2, k64K, k64K, 5},
    {kAllGather, kShared, Rival::kMpi, 2, k1M, k16M, 3},
    {kAllGather, kShared, Rival::kMpi, 2, k128M, k128M, 1.5},
    {kAllGather, kShared, Rival::kMpi, 4, k64K, k1M, 4},
    {kAllGather, kShared, Rival::kMpi, 4, k16M, k16M, 4.5},
    {kAllGather, kShared, Rival::kMpi, 4, k128M, k128M, 2},
    {kAllGather, kShared, Rival::kGloo, kAnyRanks, k64K, kNoEnd, 5},
    {kAllToAll, kShared, Rival::kMpi, 2, k64K, k64K, 5},
    {kAllToAll, kShared, Rival::kMpi, 2, k1M, k1M, 3},
    {kAllToAll, kShared, Rival::kMpi, 2, k16M, k16M, 2},
    {kAllToAll, kShared, Rival::kMpi, 2, k128M, k128M, 1.5},
    {kAllToAll, kShared, Rival::kMpi, 4, k64K, k1M, 4},
    {kAllToAll, kShared, Rival::kMpi, 4, k16M, k16M, 1.7},
    {kAllToAll, kShared, Rival::kMpi, 4, k128M, k128M, 2},
    {kAllToAll, kShared, Rival::kGloo, kAnyRanks, k64K, kNoEnd, 5},
    {kReduceScatter, kShared, Rival::kMpich, kAnyRanks, k64K, kNoEnd, 3},
    {kReduceScatter, kShared, Rival::kOpenMpi, kAnyRanks, k64K, kNoEnd, 7},
    {kReduceScatter, kShared, Rival::kGloo, kAnyRanks, k64K, kNoEnd, 4.5},
    // Over TCP. Never slower than a peer over TCP, at any size or number of ranks.
    {kAllReduce, kTcp, Rival::kOpenMpiTcp, 2, k8B, k8B, 1.2},
    {kAllReduce, kTcp, Rival::kOpenMpiTcp, kAnyRanks, k8B + 1, k64K - 1, 1},
    {kAllReduce, kTcp, Rival::kOpenMpiTcp, 4, k8B, k8B, 1},
    {kAllReduce, kTcp, Rival::kOpenMpiTcp, 8, k8B, k8B, 1},
    {kAllReduce, kTcp, Rival::kOpenMpiTcp, 2, k64K, k64K, 1.8},
    {kAllReduce, kTcp, Rival::kOpenMpiTcp, 2, k1M, k1M, 1.75},
    {kAllReduce, kTcp, Rival::kOpenMpiTcp, 2, k16M, k16M, 1.8},
    {kAllReduce, kTcp, Rival::kOpenMpiTcp, 2, k128M, k128M, 2.5},
    {kAllReduce, kTcp, Rival::kOpenMpiTcp, 4, k64K, kNoEnd, 1.75},
    {kAllReduce, kTcp, Rival::kOpenMpiTcp, 8, k64K, kNoEnd, 1.75},
    // Over hosts: with one rank on each, and with several.
    {kAllReduce, kHosts, Rival::kOpenMpiTcp, 2, k8B, k64K - 1, 1},
    {kAllReduce, kHosts, Rival::kOpenMpiTcp, 2, k64K, kNoEnd, 1.75},
    {kAllReduce, kHosts, Rival::kGloo, kAnyRanks, k8B, k64K - 1, 1},
    {kAllReduce, kHosts, Rival::kGloo, kAnyRanks, k64K, kNoEnd, 2.2},
    {kAllReduce, kHosts, Rival::kOpenMpiTcp, 4, k64K, kNoEnd, 2},
    {kAllReduce, kHosts, Rival::kOpenMpiTcp, 8, k64K, kNoEnd, 2},
    {kAllReduce, kHosts, Rival::kOpenMpiHosts, 4, k64K, kNoEnd, 2},
    {kAllReduce, kHosts, Rival::kOpenMpiHosts, 8, k64K, kNoEnd, 2},
    {kAllReduce, kTcp, Rival::kGloo, kAnyRanks, k8B, k64K - 1, 1},
    {kAllReduce, kTcp, Rival::kGloo, 2, k64K, k64K, 10},
    {kAllReduce, kTcp, Rival::kGloo, 2, k1M, k16M, 2.8},
    {kAllReduce, kTcp, Rival::kGloo, 2, k128M, k128M, 2.2},
    {kAllReduce, kTcp, Rival::kGloo, 4, k64K, kNoEnd, 2.2},
    {kAllReduce, kTcp, Rival::kGloo, 8, k64K, kNoEnd, 2.2},
};

/// Minimum of yardstick divided by our time, for an all-reduce of 64 KiB or more.
struct YardstickGoal {
  const char* ours;
  int from_ranks, to_ranks;
  double at_least;
};
inline constexpr YardstickGoal kYardstickGoals[] = {
    {kPrivate, 2, 3, 0.75},
    {kPrivate, 4, std::numeric_limits<int>::max(), 0.80},
    {kShared, 2, std::numeric_limits<int>::max(), 0.85},
    {kTcp, 2, 2, 0.85},
};

inline constexpr double kOfSmallYardstick = 1.2;    // our time of 8 B / the yardstick, at most
inline constexpr double kShortFloatsOfFloat = 1.1;  // time per byte, above 1 MiB, at most
inline constexpr double kBroadcastGbS = 18;         // shared buffers, 2 ranks, the largest size, at least
inline constexpr double kBroadcastSumGbS = 30;      // 4 ranks and more, all receivers together, at least
inline constexpr double kTcpBroadcastOfStream =
    0.8;  // 2 ranks, the largest size: of one raw stream, at least

}  // namespace pop::bench::collectives
