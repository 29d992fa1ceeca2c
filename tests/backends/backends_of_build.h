// SPDX-License-Identifier: Apache-2.0
// The backends that this build has, besides the native one.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "tests/testing/process_tree.h"

namespace pop::testing {

/// MPICH spins where it waits: with more ranks than cores, and other load beside them, seconds become
/// minutes.
inline constexpr Milliseconds kSpinningTimeout{240'000};

inline std::vector<std::string> backendsOfBuild() {
  std::istringstream words(BACKENDS);
  std::vector<std::string> names;
  for (std::string name; words >> name;) names.push_back(name);
  return names;
}

/// Adds to the environment of a program on one host what `backend` needs: MPICH's transport takes every
/// network interface, also those that concurrent tests make for their hosts and remove.
template <typename Environment>
void prepareFor(const std::string& backend, Environment& environment) {
  if (backend != "mpi") return;
  environment["UCX_NET_DEVICES"] = "lo";
}

}  // namespace pop::testing
