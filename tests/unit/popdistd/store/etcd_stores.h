// SPDX-License-Identifier: Apache-2.0
// Leaders of one store in etcd.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "popdistd/etcd/etcd_client.h"
#include "popdistd/leader/leadership.h"
#include "popdistd/store/etcd_store.h"

namespace pop::testing {

/// A process that leads, with its store.
struct Leader {
  std::string prefix;
  std::unique_ptr<popdistd::EtcdClient> etcd;
  std::unique_ptr<popdistd::Leadership> leadership;
  std::vector<Status> losses;
  std::unique_ptr<popdistd::SqliteStore> store;

  /// Revokes the leader's lease, as etcd does at its end.
  void depose();
};

/// Takes leadership and opens the store in `directory`.
std::unique_ptr<Leader> lead(const std::string& prefix, const std::string& directory,
                             std::int64_t snapshot_bytes = 4 << 20);

/// All rows of the file's tables, as text.
std::vector<std::string> rowsOf(const std::string& path);

/// Keys of etcd that begin so.
std::vector<std::string> keysIn(popdistd::EtcdClient& etcd, const std::string& prefix);

}  // namespace pop::testing
