// SPDX-License-Identifier: Apache-2.0
// Certificates that the other end of an open connection has shown, looked at again later.
#pragma once

#include <ctime>
#include <string>

#include "common/base/status.h"

namespace pop::tls {

/// Until when they are good, its own first, by these authorities; the time now does not matter.
/// kPermissionDenied: none of the authorities has signed them.
Result<std::time_t> goodUntil(const std::string& chain_pem, const std::string& authority_pem);

}  // namespace pop::tls
