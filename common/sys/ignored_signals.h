// SPDX-License-Identifier: Apache-2.0
// What the caller has made us ignore (nohup, a shell's background jobs) stays ignored: a signal that is also
// blocked would come to a signalfd all the same.
#pragma once

#include <csignal>
#include <vector>

namespace pop::sys {

/// Those of `signals` that are not ignored.
inline std::vector<int> unignored(const std::vector<int>& signals) {
  std::vector<int> result;
  for (const int signal : signals) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) result.push_back(signal);
  }
  return result;
}

}  // namespace pop::sys
