// SPDX-License-Identifier: Apache-2.0
// Unguessable names.
#pragma once

#include <string>

namespace pop::sys {

/// 64 random bits from the kernel, in hexadecimal digits. Use each for one purpose only: a name that is
/// visible in the file system must not reveal the name of a socket before the socket exists.
std::string randomName();

}  // namespace pop::sys
