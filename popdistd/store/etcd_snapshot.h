// SPDX-License-Identifier: Apache-2.0
// Whole copies of a store in etcd.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "popdistd/store/etcd_place.h"
#include "proto/popdist/v1/store.pb.h"

namespace pop::popdistd {

/// Writes what is committed in the store's file, then removes older copies and the entries of the log that
/// are in it. From any thread. Returns its bytes. kCancelled: `ends` has become true.
Result<std::int64_t> writeSnapshot(const EtcdPlace& place, const std::string& path,
                                   const std::atomic<bool>& ends);

/// The newest; nothing: there is none.
Result<std::optional<::popdist::v1::SnapshotHead>> readSnapshotHead(const EtcdPlace& place);
/// Makes the file with what is in it.
Status readSnapshot(const EtcdPlace& place, const ::popdist::v1::SnapshotHead& head, const std::string& path);

}  // namespace pop::popdistd
