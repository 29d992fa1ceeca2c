// SPDX-License-Identifier: Apache-2.0
// The audit log: a chain of entries in the store, each with the hash of the one before, and as lines of a
// file. On the loop's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "popdistd/access/audit_file.h"
#include "popdistd/access/guard.h"
#include "popdistd/common/commits.h"
#include "popdistd/common/wall_clock.h"

namespace pop::popdistd {

class AuditLog final : public Audit {
 public:
  struct Parts {
    Store& store;
    Commits& commits;
    WallClock clock;
    std::string file;  ///< path; empty: there is none
  };

  explicit AuditLog(Parts parts) : parts_(std::move(parts)) {}

  /// Goes on after the last entry of the store, and gives the file what it lacks. An error of the store; one
  /// of the file is a warning of the log.
  Status start();

  /// Entries of one user's calls that fail, between two calls of countOthers(); more are only counted.
  static constexpr std::int64_t kMostFailures = 60;
  /// The same of those that are done. Calls that only operators and admins may make have an entry always.
  static constexpr std::int64_t kMostDone = 600;

  void write(const Caller& caller, std::string_view method, const std::string& object,
             const Status& outcome) override;
  void whenDurable(std::function<void(const Status&)> done) override {
    parts_.commits.whenDurable(std::move(done));
  }

  /// A piece of an answer that reads much: nothing as long as there are more. Before the log goes.
  template <typename T>
  using Step = std::function<std::optional<Result<T>>()>;

  /// Writes down how many calls there were besides those that have entries. Call it every minute.
  void countOthers();

  /// The newest first, of one user or of all.
  Step<v1::ListAuditReply> listing(const std::string& user, int limit) const;
  Result<v1::ListAuditReply> list(const std::string& user, int limit) const;
  /// Reads all there is. An error: it cannot be read.
  Step<v1::CheckAuditReply> checking() const;
  Result<v1::CheckAuditReply> check() const;

 private:
  struct Check;
  Result<bool> checkOn(Check& check) const;
  struct Count {
    std::int64_t calls = 0;
    std::map<std::string, std::int64_t> others;  ///< without an entry, by method
  };
  bool isOneTooMany(v1::AuditEntry& entry);
  void countOthers(const std::map<std::string, Count>& counts, Code code, const std::string& why);
  void add(v1::AuditEntry entry);
  void settled(const Status& status);
  void feedFile();
  Result<v1::AuditEntry> entryAt(std::int64_t id) const;
  Result<std::vector<v1::AuditEntry>> entriesFrom(std::int64_t id, std::size_t most) const;

  const Parts parts_;
  std::optional<AuditFile> file_;
  v1::AuditEntry newest_;                  ///< as written in this turn
  v1::AuditEntry durable_;                 ///< the last that is on the disk
  std::deque<v1::AuditEntry> unsettled_;   ///< written, and not durable yet
  std::map<std::string, Count> failures_;  ///< by user, since countOthers()
  std::map<std::string, Count> done_;      ///< likewise
  bool file_has_failed_ = false;
};

}  // namespace pop::popdistd
