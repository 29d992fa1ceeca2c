// SPDX-License-Identifier: Apache-2.0
// The daemon's durable state. One transaction at a time gathers the writes of one turn of the loop; commit()
// makes them durable together. The daemon alone writes; another process may read.
//
// "An IPU has one owner" and "a partition has one job" are constraints of the store: a write against one is
// kAlreadyExists, names what is there, and changes nothing. What a write refers to must be there (kNotFound),
// and what is referred to stays (kFailedPrecondition). After a refusal the turn goes on without that write.
// Any other error, as of a full disk, undoes the turn: its later writes, and commit(), have the same error.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "proto/popdist/v1/store.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

/// True if the store refused this write alone: it has changed nothing, and the turn goes on without it.
inline bool isRefusal(const Status& status) {
  switch (status.code()) {
    case Code::kAlreadyExists:
    case Code::kFailedPrecondition:
    case Code::kInvalidArgument:
    case Code::kNotFound:
      return true;
    default:
      return false;
  }
}

/// An event of a job, as its runner numbers them.
struct StoredEvent {
  std::uint64_t sequence = 0;
  std::string bytes;  ///< v1::JobEvent

  friend bool operator==(const StoredEvent&, const StoredEvent&) = default;
};

/// An IPU of a cluster.
struct IpuKey {
  std::string cluster;
  int ild = 0;
  int ipu = 0;  ///< in the IPU-Link domain

  friend bool operator==(const IpuKey&, const IpuKey&) = default;
};

/// Small records that are read at start and kept in memory, by kind.
enum class RecordKind : std::uint8_t { kHost, kCluster, kAgent, kAllocation, kUser, kToken, kQuota };

struct NamedRecord {
  std::string name;
  std::string bytes;

  friend bool operator==(const NamedRecord&, const NamedRecord&) = default;
};

struct StoredPartition {
  std::string id;
  std::string bytes;
  std::vector<IpuKey> ipus;         ///< by cluster, domain and number
  std::optional<std::int64_t> job;  ///< that is bound to it
};

/// An entry of the audit log.
struct StoredAudit {
  std::int64_t id = 0;
  std::string bytes;  ///< v1::AuditEntry

  friend bool operator==(const StoredAudit&, const StoredAudit&) = default;
};

/// A user's usage, as it counted then: popdistd/queue/fair_share.h.
struct StoredUsage {
  std::string user;
  std::int64_t amount_ms = 0;  ///< of an instance or an IPU
  std::int64_t at_ms = 0;      ///< since 1970

  friend bool operator==(const StoredUsage&, const StoredUsage&) = default;
};

/// The findings of CheckStore, and the store's contents in numbers.
struct StoreCheck {
  std::vector<std::string> findings;  ///< none: it is whole
  std::int64_t jobs = 0;
  std::int64_t events = 0;
  std::int64_t bytes = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  // ---- reading; what the open transaction has written is seen

  /// "cluster_id", "epoch", "next_job_id", "revision", "seen_ms".
  virtual Result<std::optional<std::string>> meta(std::string_view key) = 0;
  /// By id. Those that have ended are without their spec.
  virtual Result<std::vector<v1::JobRecord>> jobs() = 0;
  /// At most `most`, from the sequence on.
  virtual Result<std::vector<StoredEvent>> events(std::int64_t job, std::uint64_t from_sequence,
                                                  std::size_t most) = 0;
  virtual Result<std::vector<NamedRecord>> records(RecordKind kind) = 0;
  virtual Result<std::vector<StoredPartition>> partitions() = 0;
  /// At most `most` entries of the audit log, from this one on.
  virtual Result<std::vector<StoredAudit>> audit(std::int64_t from, std::size_t most) = 0;
  /// 0: there is none.
  virtual Result<std::int64_t> lastAudit() = 0;
  /// By user.
  virtual Result<std::vector<StoredUsage>> usage() = 0;

  // ---- writing: opens a transaction, if none is open

  virtual Status putMeta(std::string_view key, std::string_view value) = 0;
  /// A new job, or what has become of it; once it has ended its spec is not kept. kAlreadyExists: another job
  /// has its request id.
  virtual Status putJob(const v1::JobRecord& job) = 0;
  /// With its events and its request id. kFailedPrecondition: it is bound to a partition. As of everything
  /// that can be removed: one that is not there is no error.
  virtual Status removeJob(std::int64_t job) = 0;
  /// Again with a sequence that is there: nothing. kNotFound: the job is not there.
  virtual Status putEvent(std::int64_t job, const StoredEvent& event) = 0;
  virtual Status putRecord(RecordKind kind, std::string_view name, std::string_view bytes) = 0;
  virtual Status removeRecord(RecordKind kind, std::string_view name) = 0;
  /// A new partition, or what has become of it, with the IPUs that it owns from now on. kAlreadyExists: one
  /// of them belongs to another partition. kInvalidArgument: one is named twice.
  virtual Status putPartition(std::string_view id, std::string_view bytes, std::span<const IpuKey> ipus) = 0;
  /// kFailedPrecondition: a job is bound to it.
  virtual Status removePartition(std::string_view id) = 0;
  /// kAlreadyExists: the partition has another job, or the job another partition. kNotFound: one of both is
  /// not there.
  virtual Status bind(std::string_view partition, std::int64_t job) = 0;
  virtual Status unbind(std::string_view partition) = 0;
  /// Replaces the user's usage. kInvalidArgument: less than nothing.
  virtual Status putUsage(const StoredUsage& usage) = 0;

  /// kAlreadyExists: there is an entry with this number. Entries are never changed or removed.
  virtual Status putAudit(std::int64_t id, std::string_view user, std::string_view bytes) = 0;

  /// All that was written since the last commit is on the disk when this returns. After an error
  /// (kResourceExhausted: the disk is full) none of it is: the caller's memory is ahead of the store.
  virtual Status commit() = 0;
  /// True if commit() has something to do, or has to report that the turn is undone.
  virtual bool hasUncommitted() const = 0;

  /// A whole, consistent copy of what is committed, as a file that does not exist yet (kAlreadyExists); its
  /// path is absolute.
  virtual Status backup(const std::string& path) = 0;
  virtual Result<StoreCheck> check() = 0;
  /// The store's size. Takes no time to speak of.
  virtual Result<std::int64_t> bytes() = 0;
};

}  // namespace pop::popdistd
