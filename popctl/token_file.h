// SPDX-License-Identifier: Apache-2.0
// A user's token, from a file that no other user can read.
#pragma once

#include <string>

#include "common/base/status.h"

namespace pop::popctl {

/// The token in the file at `path`. An error names `option`, and the file: it is not there, others can read
/// it, it belongs to another user, or there is no token in it.
Result<std::string> readTokenFile(const std::string& option, const std::string& path);

/// Ok, or why a token must not be sent to `address` (HOST:PORT) without TLS: others could read it.
Status checkSendsToken(const std::string& address, bool has_tls);

}  // namespace pop::popctl
