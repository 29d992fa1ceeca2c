// SPDX-License-Identifier: Apache-2.0
// The place of a store in etcd, and writing there as its leader:
//
//   PREFIX/log/SEQUENCE            what one commit has changed: v1::StoreLogEntry
//   PREFIX/parts/SEQUENCE/PART     of a large one
//   PREFIX/snapshot                the newest whole copy: v1::SnapshotHead
//   PREFIX/snapshots/NAME/PART     its bytes
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/status.h"
#include "popdistd/etcd/etcd_client.h"
#include "popdistd/etcd/fence.h"

namespace pop::popdistd {

struct EtcdPlace {
  EtcdClient& client;  ///< outlives all that has the place
  std::string prefix;  ///< "/popdist"
  Fence fence;
  /// A new snapshot when the log is as large, or half as large as the last one.
  std::int64_t snapshot_bytes = 4 << 20;
};

/// etcd takes requests up to 1.5 MiB.
inline constexpr std::size_t kMostPartBytes = 1 << 20;

inline constexpr std::chrono::seconds kEtcdReadTimeout{10};

/// Numbers as keys: in their order.
std::string numberKey(std::int64_t number);

std::string logKeys(const EtcdPlace& place);  ///< a prefix, as the next ones
std::string partKeys(const EtcdPlace& place);
std::string snapshotKey(const EtcdPlace& place);
std::string snapshotKeys(const EtcdPlace& place);

/// Carries it out if this process leads. Again and again, until etcd answers or leadership may have ended.
/// An error: nothing has changed, unless the fence has been told that leadership is lost (kAborted).
/// Returns etcd's revision.
Result<std::int64_t> writeAsLeader(const EtcdPlace& place, EtcdTransaction transaction);

}  // namespace pop::popdistd
