// SPDX-License-Identifier: Apache-2.0
#include "controller/hosts/own_address.h"

#include "common/base/check.h"
#include "common/model/host_list.h"
#include "common/os/ip_address.h"
#include "common/sys/host_name.h"

namespace pop {

void correctOwnAddress(const std::vector<model::Host>& hosts, std::vector<std::string>& addresses) {
  POP_CHECK(addresses.size() == hosts.size());
  const std::string own_name = sys::hostName();
  std::vector<bool> own;  // by name, or since the way there is from the same address
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    own.push_back(model::isThisHost(hosts[host].name, own_name) ||
                  os::ownAddressTowards(addresses[host]) == addresses[host]);
  }
  std::string towards_others;
  for (std::size_t host = 0; host < hosts.size() && towards_others.empty(); ++host) {
    if (!own[host]) towards_others = os::ownAddressTowards(addresses[host]);
  }
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (own[host] && !towards_others.empty()) addresses[host] = towards_others;
  }
}

}  // namespace pop
