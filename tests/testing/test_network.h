// SPDX-License-Identifier: Apache-2.0
// Addresses for the hosts of tests.
#pragma once

#include <string>
#include <utility>

namespace pop::testing {

/// The beginnings of the IPv4 and IPv6 addresses of a network that this machine is not in: "10.65.3.",
/// "fd7a:4103::".
std::pair<std::string, std::string> freeNetwork();

/// From now on this process, and those that it starts, know the names of /etc/hosts alone, whatever name
/// servers this machine has or cannot reach. Once in a process; needs root. The file for it is in
/// `directory`.
void useNoNameServer(const std::string& directory);

/// True when something listens on the SSH port of `address`.
bool answersSsh(const std::string& address);

}  // namespace pop::testing
