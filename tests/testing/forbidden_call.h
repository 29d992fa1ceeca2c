// SPDX-License-Identifier: Apache-2.0
// A system call that this process may not make any more, as under the filter of a container.
#pragma once

namespace pop::testing {

/// From now on `number` fails with EPERM in this thread and all that it starts. False: no filter can be set.
bool forbidSystemCall(long number);

/// From now on this thread and all that it starts get no socket of IPv6, as where the kernel has none. False:
/// as above.
bool forbidIpv6();

}  // namespace pop::testing
