// SPDX-License-Identifier: Apache-2.0
// The cases that every way has to get right, by what varies in them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/contract/run_case.h"

namespace popdist::contract {

struct GridCall {
  Case tested;
  Memory memory = Memory::kPrivate;
};

struct Grid {
  std::vector<GridCall> calls;
  bool unaligned = false;
  std::size_t at_once = 100;  ///< calls after which to begin afresh, where they have one deadline together
};

Grid everyTypeAndOperator(int ranks);
Grid everyCount(int ranks);
Grid countsBeyondAllStages(int ranks);
Grid everyRoot(int ranks);
Grid inPlaceAndUnaligned();
Grid countsThatDiffer();
Grid blocksOfSeveralSegments();  ///< a backend's partial results: 4 MiB per segment

std::vector<Grid> allGrids(int ranks);

/// Calls for way number `way` of `ways`: in those of all ways together, each two values of an operation,
/// type, operator, count, root, place, kind of memory and way that meet in some call of the whole grid meet
/// in one.
Grid pairsOf(const Grid& grid, std::size_t way, std::size_t ways);

/// One rank's part of each call. Returns the first mistake; empty: none. `calls` counts them.
std::string runGrid(Context& context, const Members& members, const Grid& grid, bool exact,
                    std::size_t& calls);

/// The members' calls back to back, of cases from `seed` on.
std::string runSequence(Context& context, const Members& members, std::uint64_t seed, std::size_t calls,
                        bool exact);

}  // namespace popdist::contract
