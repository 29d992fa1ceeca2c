// SPDX-License-Identifier: Apache-2.0
// The certificates that popdistd shows etcd, and the clients that etcd has to refuse, by popdistd's options.
#pragma once

#include <memory>
#include <vector>

#include "common/base/status.h"
#include "popdistd/daemon.h"
#include "popdistd/etcd/etcd_client.h"
#include "popdistd/etcd/forbidden_clients.h"

namespace pop::popdistd {

/// kFailedPrecondition: others could write etcd with what they have, as far as that is known without asking
/// it.
Result<std::unique_ptr<EtcdClient>> etcdClientOf(const DaemonOptions& options);

/// As their files are now; none: etcd has no TLS. An error: a file cannot be read, or its certificate does
/// not count any more.
Result<std::vector<ForbiddenClient>> forbiddenClientsOf(const DaemonOptions& options);

}  // namespace pop::popdistd
