// SPDX-License-Identifier: Apache-2.0
// Hosts that have failed, for people: few sentences, however many there are. Many often fail for one reason.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pop {

struct HostFailure {
  std::string host;
  std::string reason;
};

/// "host h7: connection refused; hosts h8 and h9: unknown name". With `lost`: "host h7 was lost: …". Reasons
/// that differ only in the host's name, an address or a key's fingerprint are one; a command in it is for
/// all.
std::string describeHosts(const std::vector<HostFailure>& failures, bool lost,
                          std::string_view separator = "; ");

}  // namespace pop
