// SPDX-License-Identifier: Apache-2.0
// The hosts that may join, by certificate: a user may ask the controller, a host may join, and neither may do
// what the other does. Pure.
#pragma once

#include <string>

#include "common/base/status.h"
#include "popdistd/api/caller.h"

namespace pop::popdistd {

/// Ok: it may join as one of its names. kUnauthenticated: it shows nothing. kPermissionDenied: it is a user.
Status checkIsHost(const Peer& peer);

/// Without TLS any caller may, but not by the local socket. As checkIsHost(); kPermissionDenied: it is
/// another host.
Status checkMayJoin(const Peer& peer, const std::string& host);

}  // namespace pop::popdistd
