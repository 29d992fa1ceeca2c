// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/host_findings.h"

#include <string>

namespace pop {
namespace {

JobCount decode(const popdist::v1::JobCount& count) {
  return {count.jobs(), count.instances()};
}

}  // namespace

void takeFindings(const popdist::v1::Welcome& welcome, HostFindings& into) {
  const popdist::v1::Condition& condition = welcome.condition();
  into.own_name = welcome.host_name();
  into.agent_version = welcome.version();
  into.agent_path = condition.agent_path();
  into.address = condition.address();
  into.address_problem = condition.address_problem();
  into.num_cpus = condition.num_cpus();
  into.num_memory_nodes = condition.num_memory_nodes();
  into.topology_problem = condition.topology_problem();
  into.ports_problem = condition.ports_problem();
  into.directory_problem = condition.directory_problem();
  into.free_shared_memory_bytes = condition.free_shared_memory_bytes();
  into.shared_memory_problem = condition.shared_memory_problem();
  into.open_files = condition.open_files();
}

Result<std::chrono::milliseconds> clockOf(const popdist::v1::Condition& condition) {
  constexpr std::chrono::milliseconds kYear = std::chrono::hours(24) * 366;
  const std::chrono::milliseconds clock(condition.wall_clock_ms());
  if (clock.count() >= 0 && clock < 8000 * kYear) return clock;
  return internalError("its agent reports that the clock there is at " + std::to_string(clock.count()) +
                       " ms since 1970, which is impossible");
}

void takeService(const popdist::v1::HostDescription& description, HostFindings& into) {
  into.service = ServiceFindings{.version = description.version(),
                                 .user = description.user(),
                                 .own_running = decode(description.own_running()),
                                 .own_limits = decode(description.own_limits()),
                                 .running = decode(description.running()),
                                 .limits = decode(description.limits())};
}

}  // namespace pop
