// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/forwarded_environment.h"

namespace pop {

std::vector<contract::Variable> forwardedEnvironment(const contract::Lookup& lookup) {
  std::vector<contract::Variable> forwarded;
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "IPUOF_LOG_LEVEL",
                           "POPLAR_TARGET_OPTIONS", "OMP_NUM_THREADS"}) {
    if (const char* value = lookup(name)) forwarded.emplace_back(name, value);
  }
  return forwarded;
}

}  // namespace pop
