// SPDX-License-Identifier: Apache-2.0
// IPv6 addresses as text.
#pragma once

#include <string_view>

namespace pop::model {

/// True for an IPv6 address, with or without an interface after '%': "::1", "fd00::10.0.0.1", "fe80::1%eth0".
bool isIpv6Address(std::string_view text);

}  // namespace pop::model
