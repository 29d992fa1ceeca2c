// SPDX-License-Identifier: Apache-2.0
// An instance's own address of the cluster, taken for as long as the instance lives: a second process of the
// same index finds it in use.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "libpopdist/collectives/cluster/endpoint.h"
#include "libpopdist/collectives/cluster/link/roster.h"
#include "libpopdist/collectives/messages/transport/tcp/socket_address.h"

namespace popdist::cluster {

/// The addresses that the resolver knows for a host. kNotFound: none. Waits as long as the resolver does.
pop::Result<std::vector<transport::SocketAddress>> addressesOf(const Endpoint& endpoint);

struct OwnPlace {
  pop::sys::Fd socket;  ///< instance 0's: listens
  std::string address;  ///< numeric, of this host
};

/// Takes the address of `instance`, and listens there if it is instance 0. kAlreadyExists: the port is in
/// use. kFailedPrecondition: the address is not of this host, or it is a loopback address though other
/// instances are elsewhere.
pop::Result<OwnPlace> takeOwnPlace(const Roster& roster, int instance);

}  // namespace popdist::cluster
