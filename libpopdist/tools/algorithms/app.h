// SPDX-License-Identifier: Apache-2.0
// The program: options, then a row for each operation, size and kind of memory.
#pragma once

namespace popdist::algorithms {

/// The exit code: 1 after an error, which is on stderr.
int runApp(int argc, char** argv);

}  // namespace popdist::algorithms
