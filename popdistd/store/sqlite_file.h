// SPDX-License-Identifier: Apache-2.0
// The store's file: made whole, opened only if it is one.
#pragma once

#include <string>

#include "common/base/status.h"
#include "popdistd/store/sqlite_database.h"

namespace pop::popdistd {

/// Opens the file, ready for durable commits and with today's tables; makes one if there is none. For the
/// process that has taken its directory. Errors: those of SqliteStore::open().
Result<Database> openStoreFile(const std::string& path);

/// An empty file for this user alone; what had its name is gone.
Status makeEmptyFile(const std::string& path);

/// Gives a whole file its final name, on the disk when this returns. kAlreadyExists: something has the name.
Status nameWholeFile(const std::string& temporary, const std::string& path);

}  // namespace pop::popdistd
