// SPDX-License-Identifier: Apache-2.0
// Hosts that have failed, for people: one sentence, however many there are. Many often fail for one reason.
#pragma once

#include <string>
#include <vector>

namespace pop {

struct HostFailure {
  std::string host;
  std::string reason;
};

/// "host h7: connection refused; hosts h8 and h9: unknown name". With `lost`: "host h7 was lost: …".
std::string describeHosts(const std::vector<HostFailure>& failures, bool lost);

}  // namespace pop
