// SPDX-License-Identifier: Apache-2.0
// What is said while hosts take long to answer, and when.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace pop {

// People begin to wonder after some seconds; after that, they know.
inline constexpr std::chrono::milliseconds kFirstNotice{3000};
inline constexpr std::chrono::milliseconds kNextNotice{10000};

/// `waiting`: each "h7: ssh key exchange".
std::string waitingLine(std::vector<std::string> waiting, std::size_t num_hosts);

}  // namespace pop
