// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/allowed_cpus.h"

#include <utility>

#include "common/sys/cores.h"

namespace pop::agent {

Result<model::CpuSet> allowedCpus() {
  POP_ASSIGN_OR_RETURN(std::vector<int> cores, sys::usableCores());
  return model::CpuSet(std::move(cores));
}

}  // namespace pop::agent
