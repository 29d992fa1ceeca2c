// SPDX-License-Identifier: Apache-2.0
#include "popdistd/store/etcd_log.h"

#include <algorithm>
#include <utility>

#include "common/log/log.h"
#include "popdistd/store/etcd_snapshot.h"
#include "proto/popdist/v1/store.pb.h"

namespace pop::popdistd {
namespace {

constexpr std::int64_t kEntryBytes = 1024;  // cost of reading one, besides its bytes

}  // namespace

EtcdLog::~EtcdLog() {
  is_ending_ = true;
  if (thread_.joinable()) thread_.join();
}

Status EtcdLog::append(std::int64_t sequence, std::string_view changes) {
  const std::string number = numberKey(sequence);
  ::popdist::v1::StoreLogEntry entry;
  entry.set_leader(place_.fence.revision);
  if (changes.size() <= kMostPartBytes) {
    entry.set_changes(changes.data(), changes.size());
  } else {
    int part = 0;
    for (std::size_t at = 0; at < changes.size(); at += kMostPartBytes, ++part) {
      EtcdTransaction write;
      write.puts = {{partKeys(place_) + number + '/' + numberKey(part),
                     std::string(changes.substr(at, kMostPartBytes))}};
      const Result<std::int64_t> written = writeAsLeader(place_, std::move(write));
      if (!written.ok()) return written.status();
    }
    entry.set_num_parts(part);
  }
  EtcdTransaction write;
  const std::string key = logKeys(place_) + number;
  write.expected = {{key, 0}};
  write.puts = {{key, entry.SerializeAsString()}};
  const Result<std::int64_t> written = writeAsLeader(place_, std::move(write));
  return written.ok() ? Status() : written.status();
}

void EtcdLog::kept(std::int64_t /*sequence*/, std::size_t num_bytes) {
  log_bytes_ += static_cast<std::int64_t>(num_bytes) + kEntryBytes;
  if (log_bytes_ < std::max(place_.snapshot_bytes, last_bytes_ / 2) || is_busy_.exchange(true)) return;
  if (thread_.joinable()) thread_.join();
  log_bytes_ = 0;
  thread_ = std::thread([this] { snapshot(); });
}

// Without one the log grows, and the next is tried when it has grown as much again.
void EtcdLog::snapshot() {
  const Result<std::int64_t> num_bytes = writeSnapshot(place_, path_, is_ending_);
  if (num_bytes.ok()) last_bytes_ = num_bytes.value();
  if (!num_bytes.ok() && !is_ending_)
    log::warning("cannot write a snapshot of the store to etcd: " + num_bytes.status().message());
  is_busy_ = false;
}

void EtcdLog::diverged(const Status& why) {
  place_.fence.lost({Code::kAborted, "etcd has a change that " + path_ + " cannot keep: " + why.message()});
}

}  // namespace pop::popdistd
