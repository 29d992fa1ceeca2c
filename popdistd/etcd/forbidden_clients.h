// SPDX-License-Identifier: Apache-2.0
// Checks that etcd lets in popdistds only: a client that writes its keys may do all that popdistd may. The
// check does not ask etcd's options; it tries.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "common/tls/certificates.h"
#include "popdistd/etcd/etcd_client.h"

namespace pop::popdistd {

/// A client that etcd has to refuse.
struct ForbiddenClient {
  std::string who;                      ///< "a host's certificate of --tls"
  std::optional<tls::KeyPair> shows{};  ///< missing: no certificate
};

/// Tries all addresses of all members, those for clients and those for other members, as each of `forbidden`.
/// kFailedPrecondition: one is let in, or an address has no TLS. kUnavailable: etcd does not say where its
/// members are. A member that does not answer is passed over.
Status checkRefuses(EtcdClient& etcd, const std::vector<ForbiddenClient>& forbidden,
                    Clock::time_point deadline);

}  // namespace pop::popdistd
