// SPDX-License-Identifier: Apache-2.0
#include "popdistd/store/sqlite_schema.h"

#include <array>
#include <string>

namespace pop::popdistd {
namespace {

constexpr std::int64_t kApplicationId = 0x706f7064;  // "popd": so that `file` and we know our files

// The constraints on unique and referenced rows are stated here, independent of the code's own checks. Specs
// have a table of their own: a job changes often, its submitted spec never.
constexpr const char* kVersion1 = R"(
CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs(
  id INTEGER PRIMARY KEY,
  user TEXT NOT NULL,
  name TEXT NOT NULL,
  state INTEGER NOT NULL,  -- popdist.v1.JobState
  submitted INTEGER,       -- ms since 1970, as all times
  ended INTEGER,
  request_id TEXT UNIQUE,  -- NULL: it has none
  record BLOB NOT NULL     -- popdist.v1.JobRecord without its spec
) STRICT;
CREATE INDEX jobs_by_state ON jobs(state);
CREATE INDEX jobs_by_user ON jobs(user, submitted);
CREATE INDEX jobs_by_end ON jobs(ended) WHERE ended IS NOT NULL;

CREATE TABLE job_specs(
  job INTEGER PRIMARY KEY REFERENCES jobs(id) ON DELETE CASCADE,
  spec BLOB NOT NULL       -- popdist.v1.JobSpec
) STRICT;

CREATE TABLE job_events(
  job INTEGER NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
  sequence INTEGER NOT NULL,
  record BLOB NOT NULL,    -- popdist.v1.JobEvent
  PRIMARY KEY(job, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE records(
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  record BLOB NOT NULL,
  PRIMARY KEY(kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE partitions(
  id TEXT PRIMARY KEY,
  record BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE partition_ipus(
  cluster TEXT NOT NULL,
  ild INTEGER NOT NULL,
  ipu INTEGER NOT NULL,
  partition TEXT NOT NULL REFERENCES partitions(id) ON DELETE CASCADE,
  PRIMARY KEY(cluster, ild, ipu)
) STRICT, WITHOUT ROWID;
CREATE INDEX ipus_by_partition ON partition_ipus(partition);

CREATE TABLE bindings(
  partition TEXT PRIMARY KEY REFERENCES partitions(id),
  job INTEGER NOT NULL UNIQUE REFERENCES jobs(id)
) STRICT, WITHOUT ROWID;
)";

// Entries of the audit log cannot be changed or removed: not even by a mistake of popdistd.
constexpr const char* kVersion2 = R"(
CREATE TABLE audit(
  id INTEGER PRIMARY KEY,
  user TEXT NOT NULL,
  record BLOB NOT NULL     -- popdist.v1.AuditEntry
) STRICT;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN SELECT raise(ABORT, 'entries of the audit log are not changed'); END;
CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
BEGIN SELECT raise(ABORT, 'entries of the audit log are not removed'); END;
)";

// The usage of users, for fair shares.
constexpr const char* kVersion3 = R"(
CREATE TABLE usage(
  user TEXT PRIMARY KEY CHECK(user <> ''),
  amount_ms INTEGER NOT NULL CHECK(amount_ms >= 0),
  at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
)";

constexpr std::array kSteps{kVersion1, kVersion2, kVersion3};

Status checkOrigin(Database& database) {
  POP_ASSIGN_OR_RETURN(const std::int64_t id, database.number("PRAGMA application_id"));
  if (id == kApplicationId) return {};
  POP_ASSIGN_OR_RETURN(const std::int64_t tables, database.number("SELECT count(*) FROM sqlite_schema"));
  if (id == 0 && tables == 0) return {};
  return failedPrecondition(database.name() + " is a database of another program than popdistd");
}

Status takeSteps(Database& database, std::span<const char* const> steps, std::size_t from) {
  for (std::size_t step = from; step < steps.size(); ++step)
    POP_RETURN_IF_ERROR(database.script(steps[step]));
  POP_RETURN_IF_ERROR(database.script("PRAGMA application_id = " + std::to_string(kApplicationId)));
  POP_RETURN_IF_ERROR(database.script("PRAGMA user_version = " + std::to_string(steps.size())));
  return database.script("COMMIT");
}

}  // namespace

std::span<const char* const> schemaSteps() {
  return kSteps;
}

Status bringUpToDate(Database& database, std::span<const char* const> steps) {
  POP_RETURN_IF_ERROR(checkOrigin(database));
  POP_ASSIGN_OR_RETURN(const std::int64_t version, database.number("PRAGMA user_version"));
  const auto newest = static_cast<std::int64_t>(steps.size());
  if (version == newest) return {};
  if (version < 0 || version > newest)
    return failedPrecondition(database.name() + " has version " + std::to_string(version) +
                              " of the store's tables, and this popdistd knows up to " +
                              std::to_string(newest) +
                              ": start the popdistd that has written it, or a newer one");
  POP_RETURN_IF_ERROR(database.script("BEGIN IMMEDIATE"));
  Status status = takeSteps(database, steps, static_cast<std::size_t>(version));
  if (status.ok()) return {};
  if (database.inTransaction()) POP_RETURN_IF_ERROR(database.script("ROLLBACK"));
  return std::move(status).during("bringing the tables of " + database.name() + " from version " +
                                  std::to_string(version) + " to " + std::to_string(newest));
}

}  // namespace pop::popdistd
