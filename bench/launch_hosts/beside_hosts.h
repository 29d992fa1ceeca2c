// SPDX-License-Identifier: Apache-2.0
// A benchmark beside hosts that it has made: they are this process's children, and all that is measured those
// of another, so that what a contestant leaves behind here can be ended after each run, whatever it is. What
// it leaves behind on a host descends from that host's daemons, and goes with the host.
#pragma once

#include <functional>

namespace pop::bench {

/// Runs `benchmark` in a process of its own and returns what it returns; 1 if it was killed. Whatever
/// descends from that process has ended then, too.
int runBesideHosts(const std::function<int()>& benchmark);

}  // namespace pop::bench
