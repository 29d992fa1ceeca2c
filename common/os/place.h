// SPDX-License-Identifier: Apache-2.0
// The address of a service, as options name it.
#pragma once

#include <string>

#include "common/base/status.h"

namespace pop::os {

struct Place {
  std::string address;  ///< numeric or a name; IPv6 without brackets
  int port = 0;
};

/// "10.0.0.1:7571", "h0:7571", "[::1]:7571". An error names `option`.
Result<Place> parsePlace(const std::string& option, const std::string& text);

/// True if only this host can reach `address`: 127.0.0.0/8, ::1 or localhost.
bool isLoopback(const std::string& address);

}  // namespace pop::os
