// SPDX-License-Identifier: Apache-2.0
// The tables of the store, and how those of an older popdistd become today's.
#pragma once

#include <span>

#include "common/base/status.h"
#include "popdistd/store/sqlite_database.h"

namespace pop::popdistd {

/// Step i makes version i + 1 from version i. Never change one that was released: append.
std::span<const char* const> schemaSteps();

/// Brings the tables to the version after the last step, or leaves them as they are. kFailedPrecondition: a
/// newer popdistd has written them, or it is the file of another program.
Status bringUpToDate(Database& database, std::span<const char* const> steps = schemaSteps());

}  // namespace pop::popdistd
