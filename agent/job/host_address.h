// SPDX-License-Identifier: Apache-2.0
// Which of this host's addresses the other hosts of a job are to use.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::agent {

struct AddressHints {
  std::string subnet;         ///< CIDR ("10.1.0.0/16", "fd00::/64") that the address must be in; empty: any
  std::string reached_at;     ///< the address at which the controller reached this host; empty: not known
  std::string controller_at;  ///< the controller's own on that connection; empty: not known

  /// What sshd says of the connection that this process came by (SSH_CONNECTION in its environment), if it
  /// does, and to an address of this host: a controller that has had its host reached by another program
  /// knows nothing of it.
  void takeSshConnection();
};

/// Numeric addresses of this host's interfaces that are up, without loopback and link-local ones.
std::vector<std::string> ownAddresses();

/// The address in the subnet; else the one that the controller reached, if it is ours (no forwarding on the
/// way); else the one from which this host would reach the controller; else the only one there is. No name is
/// looked up: what this host calls itself may well be a loopback address. kFailedPrecondition names the
/// subnet and --host-subnet, and what there is instead.
Result<std::string> hostAddress(const AddressHints& hints);

}  // namespace pop::agent
