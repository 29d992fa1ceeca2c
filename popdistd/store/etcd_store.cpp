// SPDX-License-Identifier: Apache-2.0
#include "popdistd/store/etcd_store.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <optional>
#include <utility>

#include "common/log/log.h"
#include "popdistd/store/etcd_log.h"
#include "popdistd/store/etcd_snapshot.h"
#include "popdistd/store/log_sequence.h"
#include "popdistd/store/sqlite_changes.h"
#include "popdistd/store/sqlite_file.h"
#include "popdistd/store/sqlite_schema.h"

namespace pop::popdistd {
namespace {

namespace v1 = ::popdist::v1;

constexpr std::int64_t kEntriesAtOnce = 32;  // of up to 1 MiB

Status damagedEntry(const std::string& key, const std::string& how) {
  return {Code::kDataLoss, "the store's log in etcd is damaged: " + key + ' ' + how};
}

Result<std::string> changesOf(const EtcdPlace& place, const EtcdPair& pair) {
  v1::StoreLogEntry entry;
  if (!entry.ParseFromString(pair.value)) return damagedEntry(pair.key, "cannot be read");
  if (entry.num_parts() == 0) return std::move(*entry.mutable_changes());
  const std::string number = pair.key.substr(logKeys(place).size());
  std::string changes;
  for (int part = 0; part < entry.num_parts(); ++part) {
    const std::string key = partKeys(place) + number + '/' + numberKey(part);
    POP_ASSIGN_OR_RETURN(const EtcdPairs found,
                         place.client.read({key, {}}, 1, Clock::now() + kEtcdReadTimeout));
    if (found.pairs.empty()) return damagedEntry(key, "is missing");
    changes += found.pairs.front().value;
  }
  return changes;
}

// All entries after the one that is in the database already. Returns their bytes.
Result<std::int64_t> replay(const EtcdPlace& place, Database& database) {
  POP_ASSIGN_OR_RETURN(std::int64_t sequence, logSequence(database));
  EtcdRange range = keysBelow(logKeys(place));
  std::int64_t num_bytes = 0;
  for (bool more = true; more;) {
    range.first = logKeys(place) + numberKey(sequence + 1);
    POP_ASSIGN_OR_RETURN(const EtcdPairs found,
                         place.client.read(range, kEntriesAtOnce, Clock::now() + kEtcdReadTimeout));
    for (const EtcdPair& pair : found.pairs) {
      if (pair.key != logKeys(place) + numberKey(++sequence)) return damagedEntry(pair.key, "follows a gap");
      POP_ASSIGN_OR_RETURN(const std::string changes, changesOf(place, pair));
      POP_RETURN_IF_ERROR(applyChanges(database, changes).during("reading etcd's " + pair.key));
      num_bytes += static_cast<std::int64_t>(changes.size());
    }
    more = found.more;
  }
  return num_bytes;
}

struct Loaded {
  std::int64_t version = 0;  ///< of the tables
  std::int64_t log_bytes = 0;
  std::int64_t snapshot_bytes = 0;
};

// Rows as they were, in the tables of then; what refers to what was right when it was written.
Result<Loaded> load(const EtcdPlace& place, const v1::SnapshotHead& head, const std::string& path) {
  POP_RETURN_IF_ERROR(readSnapshot(place, head, path));
  POP_ASSIGN_OR_RETURN(Database database, Database::open(path, Database::Access::kWrite));
  POP_RETURN_IF_ERROR(database.script("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN"));
  Loaded loaded;
  POP_ASSIGN_OR_RETURN(loaded.version, database.number("PRAGMA user_version"));
  POP_ASSIGN_OR_RETURN(loaded.log_bytes, replay(place, database));
  loaded.snapshot_bytes = head.num_bytes();
  POP_RETURN_IF_ERROR(database.script("COMMIT"));
  return loaded;
}

// If etcd has no store, it gets the one that a popdistd without etcd has left here.
Status takeOver(const std::string& alone, const std::string& path) {
  if (::access(alone.c_str(), F_OK) != 0) return {};
  log::info("etcd has no store yet: it gets that of " + alone);
  POP_RETURN_IF_ERROR(makeEmptyFile(path));
  POP_ASSIGN_OR_RETURN(Database source, openStoreFile(alone));
  return source.run("VACUUM INTO ?", {std::string_view(path)});
}

// Else it might be taken again. Nothing that is there is replaced.
void keepAside(const std::string& alone) {
  std::string name = alone + ".before-etcd";
  for (int i = 2; ::access(name.c_str(), F_OK) == 0; ++i) name = alone + ".before-etcd." + std::to_string(i);
  ::rename(alone.c_str(), name.c_str());
}

Result<bool> hasKeys(const EtcdPlace& place, const EtcdRange& range) {
  POP_ASSIGN_OR_RETURN(const EtcdPairs found, place.client.read(range, 1, Clock::now() + kEtcdReadTimeout));
  return !found.pairs.empty();
}

// Without a head there can only be what an interrupted first snapshot, of entry 0, has left.
Status checkNothingIsLeft(const EtcdPlace& place) {
  EtcdRange snapshots = keysBelow(snapshotKeys(place));
  snapshots.first += numberKey(1);
  for (const EtcdRange& range : {keysBelow(logKeys(place)), keysBelow(partKeys(place)), snapshots}) {
    POP_ASSIGN_OR_RETURN(const bool found, hasKeys(place, range));
    if (found)
      return {Code::kDataLoss,
              "etcd has parts of a store (" + range.first + "…), but not " + snapshotKey(place) +
                  ": restore etcd's copy; for a new store, give another --etcd-prefix or remove these keys"};
  }
  return {};
}

void removeCopy(const std::string& path) {
  for (const char* const end : {"", "-wal", "-shm", "-journal"}) ::unlink((path + end).c_str());
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> openEtcdStore(EtcdPlace place, sys::Fd lock,
                                                   const std::string& directory) {
  const std::string path = directory + "/replica.db";
  POP_ASSIGN_OR_RETURN(const std::optional<v1::SnapshotHead> head, readSnapshotHead(place));
  if (!head) POP_RETURN_IF_ERROR(checkNothingIsLeft(place));
  removeCopy(path);
  Loaded loaded;
  const std::string alone = directory + "/store.db";
  if (head) {
    POP_ASSIGN_OR_RETURN(loaded, load(place, *head, path));
  } else {
    POP_RETURN_IF_ERROR(takeOver(alone, path).during("taking over " + alone));
  }
  POP_ASSIGN_OR_RETURN(Database database, openStoreFile(path));
  POP_RETURN_IF_ERROR(database.script("PRAGMA synchronous = OFF"));  // etcd has it
  POP_ASSIGN_OR_RETURN(const std::int64_t version, database.number("PRAGMA user_version"));
  if (!head || version != loaded.version) {  // the log's entries are of these tables
    POP_ASSIGN_OR_RETURN(loaded.snapshot_bytes, writeSnapshot(place, path, std::atomic<bool>(false)));
    loaded.log_bytes = 0;
  }
  if (!head)
    keepAside(alone);
  else if (::access(alone.c_str(), F_OK) == 0)
    log::warning(alone + " is of a popdistd without etcd, and is not used: the store is etcd's");
  auto log = std::make_unique<EtcdLog>(std::move(place), path, loaded.log_bytes, loaded.snapshot_bytes);
  return SqliteStore::replica(std::move(lock), std::move(database), path, std::move(log));
}

}  // namespace pop::popdistd
