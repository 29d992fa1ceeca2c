// SPDX-License-Identifier: Apache-2.0
// A store whose truth is in etcd: a snapshot, and a log of what each commit has changed since then. The
// leader works on a copy, a SQLite file, whose constraints are the store's.
#pragma once

#include <memory>
#include <string>

#include "common/sys/fd.h"
#include "popdistd/store/etcd_place.h"
#include "popdistd/store/sqlite_store.h"

namespace pop::popdistd {

/// For the process that leads and has taken the directory (takeStateDirectory()): makes DIRECTORY/replica.db
/// anew from etcd. An empty etcd is a store without rows.
/// kUnavailable: etcd does not answer. kDataLoss: what is there is not whole. kFailedPrecondition: a newer
/// popdistd has written it.
Result<std::unique_ptr<SqliteStore>> openEtcdStore(EtcdPlace place, sys::Fd lock,
                                                   const std::string& directory);

}  // namespace pop::popdistd
