// SPDX-License-Identifier: Apache-2.0
// Addresses for the hosts of tests.
#pragma once

#include <string>
#include <utility>

namespace pop::testing {

/// The beginnings of the IPv4 and IPv6 addresses of a network that this machine is not in: "10.65.3.",
/// "fd7a:4103::".
std::pair<std::string, std::string> freeNetwork();

/// True when something listens on the SSH port of `address`.
bool answersSsh(const std::string& address);

}  // namespace pop::testing
