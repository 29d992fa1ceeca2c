// SPDX-License-Identifier: Apache-2.0
// The expectations that the tests of all rows share.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tests/differ/row.h"

namespace popdist::testing {

// The instances' deadline. No row waits for it: errors come within a second, and later on a busy machine.
inline constexpr std::chrono::seconds kDeadline{20};
inline constexpr std::chrono::seconds kAtOnce{5};
// The deadline of rows that wait for it.
inline constexpr std::chrono::seconds kShortDeadline{1};

inline constexpr int kInstances = 2;
inline constexpr int kEqualCalls = 2;  // before the later one that differs

std::chrono::seconds deadlineOf(const Row& row);

/// `heard`: the text of the error of each instance, "" for none.
void expectHeard(const Row& row, bool over_hosts, const std::vector<std::string>& heard);

}  // namespace popdist::testing
