// SPDX-License-Identifier: Apache-2.0
// The paths that can be read by HTTP, each with the interface call that serves it and whose access rule
// applies.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace pop::popdistd {

struct ReadPath {
  std::string_view path;    ///< "ID": any one part
  std::string_view method;  ///< in its .proto; "": for any caller with the role viewer
};

/// All paths but those for any client: /healthz, and the page.
inline constexpr std::array kReadPaths{ReadPath{"/v1/jobs", "List"},
                                       ReadPath{"/v1/jobs/ID", "Get"},
                                       ReadPath{"/v1/jobs/ID/log", "Logs"},
                                       ReadPath{"/v1/jobs/ID/records", "Logs"},
                                       ReadPath{"/v1/counts", "CountJobs"},
                                       ReadPath{"/v1/hosts", "ListHosts"},
                                       ReadPath{"/v1/clusters", "ListClusters"},
                                       ReadPath{"/v1/agents", "ListAgents"},
                                       ReadPath{"/v1/allocations", "ListAllocations"},
                                       ReadPath{"/v1/partitions", "ListPartitions"},
                                       ReadPath{"/v1/partitions/ID/topology.svg", "ListPartitions"},
                                       ReadPath{"/v1/watch", "Watch"},
                                       ReadPath{"/metrics", ""}};

/// Null: there is no such path.
constexpr const ReadPath* readPathOf(std::string_view path) {
  const auto part = [](std::string_view& of) {
    const std::size_t end = std::min(of.find('/', 1), of.size());
    const std::string_view first = of.substr(0, end);
    of.remove_prefix(end);
    return first;
  };
  for (const ReadPath& each : kReadPaths) {
    std::string_view wanted = each.path;
    std::string_view asked = path;
    bool fits = true;
    while (fits && !wanted.empty() && !asked.empty()) {
      const std::string_view want = part(wanted);
      const std::string_view ask = part(asked);
      fits = want == ask || (want == "/ID" && ask.size() > 1);
    }
    if (fits && wanted.empty() && asked.empty()) return &each;
  }
  return nullptr;
}

}  // namespace pop::popdistd
