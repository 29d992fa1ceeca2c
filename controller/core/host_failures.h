// SPDX-License-Identifier: Apache-2.0
// Describes failed hosts to the user in few sentences: many hosts often fail for the same reason.
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
/// that differ only in the host's name, an address or a key's fingerprint are merged, and a command in them
/// then names all hosts.
std::string describeHosts(const std::vector<HostFailure>& failures, bool lost,
                          std::string_view separator = "; ");

}  // namespace pop
