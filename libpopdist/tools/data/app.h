// SPDX-License-Identifier: Apache-2.0
// The program: its verbs benchmark, records and compare.
#pragma once

namespace popdist::data {

/// The exit code: 1 after an error, which is on stderr.
int runApp(int argc, char** argv);

}  // namespace popdist::data
