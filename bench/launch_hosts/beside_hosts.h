// SPDX-License-Identifier: Apache-2.0
// Runs a benchmark next to the hosts that it has made. The hosts are children of this process, and the
// measured programs those of another, so that everything a contestant leaves behind here can be ended after
// each run. Processes left on a host descend from that host's daemons, and end with the host.
#pragma once

#include <functional>

namespace pop::bench {

/// Runs `benchmark` in its own process and returns its result; 1 if it was killed. All descendants of that
/// process have ended then, too.
int runBesideHosts(const std::function<int()>& benchmark);

}  // namespace pop::bench
