// SPDX-License-Identifier: Apache-2.0
// Signals that the caller ignored (nohup, a shell's background jobs) must stay ignored: a signal that is also
// blocked would otherwise arrive at a signalfd.
#pragma once

#include <csignal>
#include <vector>

namespace pop::sys {

/// Returns those of `signals` that are not ignored.
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
