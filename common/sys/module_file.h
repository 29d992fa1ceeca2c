// SPDX-License-Identifier: Apache-2.0
// Files of the program and the shared libraries in this process.
#pragma once

#include <string>

namespace pop::sys {

/// Absolute path of the file that the code or data at `address` was loaded from; empty if it is of none, or
/// that file is gone. For a program, the dynamic linker knows only the name that it was started by: no path
/// if it was found in PATH, and a wrong one after chdir.
std::string fileOfModule(const void* address);

}  // namespace pop::sys
