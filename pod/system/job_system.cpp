// SPDX-License-Identifier: Apache-2.0
#include "pod/system/job_system.h"

#include <string>

#include "pod/system/system_text.h"

namespace pop::pod {

Result<PodSpec> jobSystem(std::string_view system, std::string_view from, std::int64_t ipus) {
  if (system.empty()) return smallestPodFor(ipus);
  if (system.find(' ') == std::string_view::npos)
    return podSpecByName(system);  // a text begins "system NAME"
  if (system.size() > kMaxJobSystemBytes)
    return invalidArgument(std::string(from) + ": its system has " + std::to_string(system.size()) +
                           " characters, and that of a job at most " + std::to_string(kMaxJobSystemBytes) +
                           ": use a shape, or fewer links");
  return systemFromText(system, from);
}

bool isSystemFile(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".system");
}

}  // namespace pop::pod
