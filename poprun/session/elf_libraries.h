// SPDX-License-Identifier: Apache-2.0
// The shared libraries that a program names in its own file.
#pragma once

#include <string>
#include <vector>

namespace pop {

/// The names that the file's dynamic section needs ("libc.so.6"), in its order; not those that its libraries
/// need in turn. Empty for files that are no 64-bit ELF of this machine's byte order, damaged ones, and those
/// that cannot be read. Reads at most some 100 KiB, whatever the file says.
std::vector<std::string> neededLibraries(const std::string& path);

}  // namespace pop
