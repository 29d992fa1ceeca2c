// SPDX-License-Identifier: Apache-2.0
#include "common/model/host_list.h"

#include <algorithm>

#include "common/base/text.h"

namespace pop::model {

Result<std::vector<std::string>> parseHostList(std::string_view text) {
  std::vector<std::string> hosts = split(text, ',');
  for (auto host = hosts.begin(); host != hosts.end(); ++host) {
    if (host->empty()) return invalidArgument(inQuotes(text) + " has an empty host name");
    if (std::find(hosts.begin(), host, *host) != host)
      return invalidArgument(inQuotes(text) + " names " + *host + " twice");
  }
  return hosts;
}

bool isThisHost(std::string_view host, std::string_view own_name) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == own_name;
}

}  // namespace pop::model
