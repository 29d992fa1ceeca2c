// SPDX-License-Identifier: Apache-2.0
#include "controller/core/host_addresses.h"

#include <map>

#include "common/base/text.h"

namespace pop {

std::vector<std::string> sharedAddressWarnings(const std::vector<model::Host>& hosts,
                                               const std::vector<std::string>& addresses) {
  std::map<std::string, std::vector<std::string>> names_at;
  for (std::size_t host = 0; host < hosts.size(); ++host)
    names_at[addresses[host]].push_back(hosts[host].name);
  std::vector<std::string> warnings;
  for (const auto& [address, names] : names_at) {
    if (names.size() < 2) continue;
    warnings.push_back(
        "hosts " + join(names, ", ") + " have the same address, " + address +
        ": if these are names of one host, list it once, because each name would bind instances to the same "
        "cores; if each host has a local network with this address, such as a bridge of containers, name the "
        "network between the hosts with --host-subnet");
  }
  return warnings;
}

}  // namespace pop
