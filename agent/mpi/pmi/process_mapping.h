// SPDX-License-Identifier: Apache-2.0
// Which ranks share a host, in the words of PMI. Pure.
#pragma once

#include <span>
#include <string>

namespace pop::agent {

/// "(vector,(0,2,4),(2,1,3))": the first 2 hosts, from number 0, have 4 ranks each, the next one has 3.
/// `counts`: how many instances each host has, in the order of the instances' numbers.
std::string processMapping(std::span<const int> counts);

}  // namespace pop::agent
