// SPDX-License-Identifier: Apache-2.0
// Which host may join, by its certificate: a user may ask the controller, and neither may do what the other
// does. Pure.
#pragma once

#include <string>

#include "common/base/status.h"
#include "popdistd/api/caller.h"

namespace pop::popdistd {

/// Without TLS everybody may, but not by the local socket. kPermissionDenied: it is a user, or another host.
Status checkMayJoin(const Peer& peer, const std::string& host);

}  // namespace pop::popdistd
