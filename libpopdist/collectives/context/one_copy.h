// SPDX-License-Identifier: Apache-2.0
// A process may hold the code of libpopdist twice: in its program and in a shared library that it loads, or
// in two libraries. Each copy has contexts of its own, and agents take one connection from an instance, so
// only one copy may make contexts.
#pragma once

namespace popdist::context {

/// For those who make a context: throws popdist_error kFailedPrecondition, which names both files, if another
/// copy in this process has made one. Otherwise no other copy can make one from now on.
void claimThisProcess();

}  // namespace popdist::context
