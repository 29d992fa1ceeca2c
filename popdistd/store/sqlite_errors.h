// SPDX-License-Identifier: Apache-2.0
// SQLite's errors as ours, in words that say what to do.
#pragma once

#include <string>

#include "common/base/status.h"

struct sqlite3;

namespace pop::popdistd {

/// Why a call on `connection`, which may be null, has failed with `code`, an extended result code:
///   kAlreadyExists       a row is there already that may be there only once
///   kFailedPrecondition  a row that this one refers to is missing, or is referred to
///   kResourceExhausted   no space on the disk
///   kDataLoss            the file is damaged; names `popctl backup`
///   kUnavailable         another process has it locked, or the disk fails
///   kPermissionDenied    it may not be opened or written
Status statusOf(sqlite3* connection, int code, const std::string& name);

/// kDataLoss: `what` is wrong with the store; names `popctl backup`.
Status damaged(const std::string& name, const std::string& what);

}  // namespace pop::popdistd
