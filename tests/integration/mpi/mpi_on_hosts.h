// SPDX-License-Identifier: Apache-2.0
// Programs linked with MPI, over two hosts. MPI_CHILD_PATH: the one of the test's MPI.
#pragma once

#include <string>

#include "tests/integration/hosts/hosts_fixture.h"

namespace pop::testing {

/// MPI spins where it waits, also when there are more ranks than cores.
inline constexpr Milliseconds kSpinningTimeout{120'000};

class MpiOnHosts : public HostsTest {
 protected:
  MpiOnHosts() : HostsTest(2) {}

  Outcome runOn(const std::string& instances, const std::string& task) const {
    return run(job({"-np", instances, "--tag-output", "no", MPI_CHILD_PATH, task}), kSpinningTimeout);
  }
};

}  // namespace pop::testing
