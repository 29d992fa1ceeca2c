// SPDX-License-Identifier: Apache-2.0
// Names that nobody can have guessed.
#pragma once

#include <string>

namespace pop::sys {

/// 64 random bits from the kernel, in hexadecimal digits. Use each for one purpose: what is seen in the file
/// system must not tell the name of a socket before that is ours.
std::string randomName();

}  // namespace pop::sys
