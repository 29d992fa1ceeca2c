// SPDX-License-Identifier: Apache-2.0
// The number of the last log entry that went into a copy of the store. It is in the copy itself, so that a
// copy made at any moment tells it.
#pragma once

#include <string>

#include "common/base/text.h"
#include "popdistd/store/sqlite_database.h"

namespace pop::popdistd {

inline Result<std::int64_t> logSequence(Database& database) {
  std::string text = "0";
  POP_RETURN_IF_ERROR(
      database.select("SELECT value FROM meta WHERE key = 'log_sequence'", {}, [&](const Row& row) {
        text = row.bytes(0);
        return Status();
      }));
  return parseInteger(text);
}

inline Status setLogSequence(Database& database, std::int64_t sequence) {
  const std::string text = std::to_string(sequence);
  return database.run(
      "INSERT INTO meta(key, value) VALUES('log_sequence', ?) ON CONFLICT(key) DO UPDATE SET value = "
      "excluded.value",
      {std::string_view(text)});
}

}  // namespace pop::popdistd
