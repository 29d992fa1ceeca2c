// SPDX-License-Identifier: Apache-2.0
// Whether this process is still the one that has made something.
#pragma once

namespace pop::sys {

/// Grows in each child that is forked: what belongs to the parent is not to be used there. Counts from the
/// first call on, so whoever wants to know calls it before.
unsigned forksOfThisProcess();

}  // namespace pop::sys
