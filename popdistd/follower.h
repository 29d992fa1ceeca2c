// SPDX-License-Identifier: Apache-2.0
// One of several popdistds while it does not lead: passes clients and hosts on to the one that does.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "popdistd/daemon.h"
#include "popdistd/etcd/etcd_client.h"
#include "popdistd/leader/forbidden_client_watch.h"
#include "popdistd/leader/leadership.h"
#include "popdistd/store/sqlite_store.h"

namespace pop::popdistd {

/// A leader's resources. The store goes first.
struct Lead {
  std::unique_ptr<EtcdClient> etcd;
  std::unique_ptr<ForbiddenClientWatch> forbidden;
  std::unique_ptr<Leadership> leadership;
  std::unique_ptr<SqliteStore> store;
  std::string header_key;  ///< HeaderCheck's
};

/// "h0:8090": by which the other popdistds reach this one.
std::string peerAddress(const DaemonOptions& options);

/// Follows until this process leads, and opens the store then. Nothing: it was told to end. From then on the
/// process ends itself at once when it may not lead any more.
Result<std::optional<Lead>> waitToLead(const DaemonOptions& options);

}  // namespace pop::popdistd
