// SPDX-License-Identifier: Apache-2.0
// Who calls, by its certificate: a user may ask the controller, a host may join, and neither may do what the
// other does. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "popdistd/api/api.h"

namespace pop::popdistd {

/// The other end of a connection, as its transport describes it.
struct Peer {
  bool has_tls = false;
  std::vector<std::string> uris;   ///< alternative names of its certificate
  std::vector<std::string> names;  ///< likewise: DNS names and addresses
  std::string address;             ///< numeric, without the port
  std::string port;
};

/// Without TLS everybody is `own_user`: only this host can reach the daemon then. kPermissionDenied: it is a
/// host, or nobody.
Result<Caller> callerOf(const Peer& peer, const std::string& own_user);

/// Without TLS everybody may. kPermissionDenied: it is a user, or another host.
Status checkMayJoin(const Peer& peer, const std::string& host);

}  // namespace pop::popdistd
