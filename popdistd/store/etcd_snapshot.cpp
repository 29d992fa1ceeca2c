// SPDX-License-Identifier: Apache-2.0
#include "popdistd/store/etcd_snapshot.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/sys/fd.h"
#include "common/sys/whole_file.h"
#include "popdistd/store/log_sequence.h"
#include "popdistd/store/sqlite_file.h"

namespace pop::popdistd {
namespace {

namespace v1 = ::popdist::v1;

std::string partKey(const EtcdPlace& place, const std::string& name, std::int64_t part) {
  return snapshotKeys(place) + name + '/' + numberKey(part);
}

// A copy that is not written to, of a moment between two commits.
Result<std::int64_t> copyTo(const std::string& path, const std::string& copy) {
  POP_RETURN_IF_ERROR(makeEmptyFile(copy));
  {
    POP_ASSIGN_OR_RETURN(Database source, Database::open(path, Database::Access::kRead));
    POP_RETURN_IF_ERROR(source.run("VACUUM INTO ?", {std::string_view(copy)}));
  }
  POP_ASSIGN_OR_RETURN(Database database, Database::open(copy, Database::Access::kRead));
  return logSequence(database);
}

Result<std::int64_t> writeParts(const EtcdPlace& place, const std::string& name, const std::string& path,
                                const std::atomic<bool>& ends, std::int64_t& num_bytes) {
  POP_ASSIGN_OR_RETURN(const sys::Fd file, sys::openRegular(path, O_RDONLY));
  std::int64_t part = 0;
  std::string bytes(kMostPartBytes, '\0');
  while (true) {
    if (ends) return Status(Code::kCancelled, "popdistd ends");
    const ssize_t count = ::pread(file.get(), bytes.data(), bytes.size(), num_bytes);
    if (count < 0) return errnoStatus("reading " + path, errno);
    if (count == 0) return part;
    EtcdTransaction write;
    write.puts = {{partKey(place, name, part), bytes.substr(0, static_cast<std::size_t>(count))}};
    const Result<std::int64_t> written = writeAsLeader(place, std::move(write));
    if (!written.ok()) return written.status();
    num_bytes += count;
    ++part;
  }
}

// All but the snapshot of this name, and the log behind it. etcd keeps old values until it is told not to.
Status removeOlder(const EtcdPlace& place, const v1::SnapshotHead& head) {
  const EtcdRange this_one = keysBelow(snapshotKeys(place) + head.name() + '/');
  const EtcdRange all = keysBelow(snapshotKeys(place));
  const std::string next = numberKey(head.sequence() + 1);
  EtcdTransaction remove;
  remove.removes = {{all.first, this_one.first},
                    {this_one.end, all.end},
                    {logKeys(place), logKeys(place) + next},
                    {partKeys(place), partKeys(place) + next}};
  POP_ASSIGN_OR_RETURN(const std::int64_t revision, writeAsLeader(place, std::move(remove)));
  return place.client.compact(revision, Clock::now() + kEtcdReadTimeout);
}

Result<std::int64_t> writeCopy(const EtcdPlace& place, const std::string& copy, std::int64_t sequence,
                               const std::atomic<bool>& ends) {
  v1::SnapshotHead head;
  head.set_sequence(sequence);
  head.set_name(numberKey(sequence) + '.' + std::to_string(place.fence.revision));
  std::int64_t num_bytes = 0;
  POP_ASSIGN_OR_RETURN(const std::int64_t num_parts, writeParts(place, head.name(), copy, ends, num_bytes));
  head.set_num_parts(static_cast<int>(num_parts));
  head.set_num_bytes(num_bytes);
  EtcdTransaction name_it;
  name_it.puts = {{snapshotKey(place), head.SerializeAsString()}};
  const Result<std::int64_t> named = writeAsLeader(place, std::move(name_it));
  if (!named.ok()) return named.status();
  POP_RETURN_IF_ERROR(removeOlder(place, head));
  return num_bytes;
}

}  // namespace

Result<std::int64_t> writeSnapshot(const EtcdPlace& place, const std::string& path,
                                   const std::atomic<bool>& ends) {
  const std::string copy = path + ".snapshot";
  const Result<std::int64_t> sequence = copyTo(path, copy);
  Result<std::int64_t> num_bytes = sequence.ok() ? writeCopy(place, copy, sequence.value(), ends) : sequence;
  ::unlink(copy.c_str());
  return num_bytes;
}

Result<std::optional<v1::SnapshotHead>> readSnapshotHead(const EtcdPlace& place) {
  POP_ASSIGN_OR_RETURN(const EtcdPairs found,
                       place.client.read({snapshotKey(place), {}}, 1, Clock::now() + kEtcdReadTimeout));
  if (found.pairs.empty()) return std::optional<v1::SnapshotHead>();
  v1::SnapshotHead head;
  if (!head.ParseFromString(found.pairs.front().value))
    return Status(Code::kDataLoss, "etcd's key " + snapshotKey(place) + " is damaged");
  return std::optional(std::move(head));
}

Status readSnapshot(const EtcdPlace& place, const v1::SnapshotHead& head, const std::string& path) {
  POP_RETURN_IF_ERROR(makeEmptyFile(path));
  POP_ASSIGN_OR_RETURN(const sys::Fd file, sys::openRegular(path, O_WRONLY));
  std::int64_t num_bytes = 0;
  for (int part = 0; part < head.num_parts(); ++part) {
    const std::string key = partKey(place, head.name(), part);
    POP_ASSIGN_OR_RETURN(const EtcdPairs found,
                         place.client.read({key, {}}, 1, Clock::now() + kEtcdReadTimeout));
    if (found.pairs.empty()) return {Code::kDataLoss, "etcd lacks " + key};
    const std::string& bytes = found.pairs.front().value;
    POP_RETURN_IF_ERROR(sys::writeAll(file.get(), bytes).during("writing " + path));
    num_bytes += static_cast<std::int64_t>(bytes.size());
  }
  if (num_bytes == head.num_bytes()) return {};
  return {Code::kDataLoss, "the snapshot " + head.name() + " in etcd has " + std::to_string(num_bytes) +
                               " bytes instead of " + std::to_string(head.num_bytes())};
}

}  // namespace pop::popdistd
