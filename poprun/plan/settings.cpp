// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/settings.h"

#include <algorithm>
#include <limits>

namespace pop {

int effectiveVerbosity(const Options& options) {
  return options.debug ? 2 : options.verbosity;
}

int numInstances(const Options& options) {
  std::int64_t sum = 0;
  for (const ProgramOptions& program : options.programs) sum += program.num_instances.value_or(1);
  return static_cast<int>(
      std::clamp<std::int64_t>(sum, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

}  // namespace pop
