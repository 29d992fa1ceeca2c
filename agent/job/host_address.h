// SPDX-License-Identifier: Apache-2.0
// Chooses the address of this host that the other hosts of a job use.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::agent {

struct AddressHints {
  std::string subnet;  ///< the address must be in it: a CIDR ("10.1.0.0/16", "fd00::/64"), or interfaces of
                       ///< this host, separated by commas ("eth0,eth1"); empty: anywhere
  std::string reached_at;     ///< the address at which the controller reached this host; empty: not known
  std::string controller_at;  ///< the controller's own on that connection; empty: not known

  /// Sets the addresses from sshd's SSH_CONNECTION, if it is set and names an address of this host. Needed
  /// when another program (--rsh) has reached the host: the controller then does not know the address.
  void takeSshConnection();
};

/// Numeric addresses of this host's interfaces that are up, without loopback and link-local addresses.
std::vector<std::string> ownAddresses();

/// Chooses, in this order:
/// - the address in the subnet, or on the first of the interfaces that has one, if they are given;
/// - the address that the controller reached, if it belongs to this host (no forwarding on the way);
/// - the address from which this host would reach the controller;
/// - the only address there is.
/// No name is looked up: this host's own name may stand for a loopback address. kFailedPrecondition names the
/// subnet, --host-subnet, and the addresses there are.
Result<std::string> hostAddress(const AddressHints& hints);

}  // namespace pop::agent
