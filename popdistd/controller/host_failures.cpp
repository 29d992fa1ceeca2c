// SPDX-License-Identifier: Apache-2.0
#include "popdistd/controller/host_failures.h"

#include <cstddef>
#include <map>
#include <utility>

#include "common/base/text.h"

namespace pop {
namespace {

constexpr std::size_t kMostNames = 16;

// "host a", "hosts a and b", "hosts a, b and 7 others"
std::string namesOf(std::vector<std::string> hosts) {
  if (hosts.size() == 1) return "host " + hosts.front();
  std::string last = hosts.back();
  hosts.pop_back();
  if (hosts.size() >= kMostNames) {
    last = std::to_string(hosts.size() + 1 - kMostNames) + " others";
    hosts.resize(kMostNames);
  }
  return "hosts " + join(hosts, ", ") + " and " + last;
}

}  // namespace

std::string describeHosts(const std::vector<HostFailure>& failures, bool lost) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // in the order of their first
  std::map<std::string, std::size_t> group_of;
  for (const HostFailure& each : failures) {
    const auto [found, is_new] = group_of.emplace(each.reason, groups.size());
    if (is_new) groups.push_back({each.reason, {}});
    groups[found->second].second.push_back(each.host);
  }
  std::vector<std::string> sentences;
  for (const auto& [reason, hosts] : groups) {
    const char* verb = !lost ? "" : hosts.size() == 1 ? " was lost" : " were lost";
    sentences.push_back(namesOf(hosts) + verb + ": " + reason);
  }
  return join(sentences, "; ");
}

}  // namespace pop
