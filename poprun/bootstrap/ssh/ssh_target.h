// SPDX-License-Identifier: Apache-2.0
// Parses "[user@]host[:port]", the name of a host that is reached over SSH.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"

namespace pop {

struct SshTarget {
  std::string user;  ///< empty: not said
  std::string host;  ///< name, alias or address, as written
  int port = 0;      ///< 0: not said

  friend bool operator==(const SshTarget&, const SshTarget&) = default;
};

/// `text`: "h0", "me@h0:2222", "fd00::1", "[fd00::1]:22". kInvalidArgument says what is wrong.
Result<SshTarget> parseSshTarget(std::string_view text);

}  // namespace pop
