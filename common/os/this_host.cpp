// SPDX-License-Identifier: Apache-2.0
#include "common/os/this_host.h"

#include <iterator>
#include <set>
#include <sstream>

#include "common/base/text.h"
#include "common/os/ip_address.h"
#include "common/os/place.h"

namespace pop::os {

// The kernel goes to an own address from that address.
bool isOwnAddress(const std::string& address) {
  const IpBytes bytes = parseIp(address);
  return !bytes.empty() && parseIp(ownAddressTowards(address)) == bytes;
}

OwnNames::OwnNames(const std::string& own_name, const std::string& hosts) {
  for (const std::string& line : split(hosts, '\n')) {
    std::istringstream words(lowerCase(line.substr(0, line.find('#'))));
    std::string address;
    words >> address;
    const std::set<std::string> names{std::istream_iterator<std::string>(words), {}};
    // Debian gives 127.0.1.1 to the host's own name.
    const bool others = isLoopback(address) && !names.contains(lowerCase(own_name));
    // As for the resolver, the first line of a name counts.
    for (const std::string& name : names) addresses_.try_emplace(name, others ? "" : address);
  }
}

bool OwnNames::contains(const std::string& host) const {
  const auto found = addresses_.find(lowerCase(host));
  return found != addresses_.end() && (isLoopback(found->second) || isOwnAddress(found->second));
}

}  // namespace pop::os
