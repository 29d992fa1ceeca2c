// SPDX-License-Identifier: Apache-2.0
// Which names and addresses mean the host that this process runs on.
#pragma once

#include <map>
#include <string>

namespace pop::os {

/// True if `address` is one of this host's interfaces; of the loopback, as it is written there.
bool isOwnAddress(const std::string& address);

/// The names that /etc/hosts gives to this host. Names of the loopback count beside the host's own name only:
/// a tunnel to another host may have one. No name server is asked.
class OwnNames {
 public:
  /// `hosts`: the text of /etc/hosts.
  OwnNames(const std::string& own_name, const std::string& hosts);
  bool contains(const std::string& host) const;

 private:
  std::map<std::string, std::string> addresses_;  ///< by name; empty: another host's
};

}  // namespace pop::os
