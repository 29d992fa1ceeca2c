// SPDX-License-Identifier: Apache-2.0
// Detects whether this process is a fork of the one that created an object.
#pragma once

namespace pop::sys {

/// A number that grows in each forked child: resources of the parent must not be used there. Counting starts
/// with the first call, so call it once in advance.
unsigned forksOfThisProcess();

}  // namespace pop::sys
