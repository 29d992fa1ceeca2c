// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/audit_log.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "common/base/text.h"
#include "common/log/log.h"
#include "popdistd/access/audit_line.h"

namespace pop::popdistd {
namespace {

constexpr std::size_t kChunk = 1000;  // entries that are read at once
constexpr std::size_t kMostObjectBytes = 256;
constexpr std::size_t kMostErrorBytes = 512;
constexpr int kUsualLimit = 100;
constexpr int kMostListed = 10'000;

std::string shortened(const std::string& text, std::size_t most) {
  const std::string plain = printable(text);
  return plain.size() <= most ? plain : printable(plain.substr(0, most)) + " and more";
}

// Compares the file's lines with the entries, as they come.
class FileCheck {
 public:
  explicit FileCheck(const std::string& path) : path_(path), lines_(path) {}

  /// What is wrong; empty: nothing.
  std::string compare(const v1::AuditEntry& entry) {
    std::string line;
    if (!std::getline(lines_, line))
      return path_ + " ends before entry " + std::to_string(entry.id()) + ", which the store has";
    ++number_;
    if (line == auditLine(entry)) return {};
    return path_ + " line " + std::to_string(number_) + " is not entry " + std::to_string(entry.id()) +
           " of the store";
  }
  std::string compareEnd() {
    std::string line;
    if (!std::getline(lines_, line)) return {};
    return path_ + " line " + std::to_string(number_ + 1) + " is no entry of the store";
  }

 private:
  const std::string path_;
  std::ifstream lines_;
  std::int64_t number_ = 0;
};

}  // namespace

Status AuditLog::start() {
  POP_ASSIGN_OR_RETURN(const std::int64_t last, parts_.store.lastAudit());
  if (last > 0) {
    POP_ASSIGN_OR_RETURN(durable_, entryAt(last));
  }
  newest_ = durable_;
  if (parts_.file.empty()) return {};
  Result<AuditFile> file = AuditFile::open(parts_.file, [this](std::int64_t id) { return entryAt(id); });
  if (!file.ok()) {
    log::warning("there is no file of the audit log, only what the store has: " + file.status().message());
    return {};
  }
  file_.emplace(std::move(*file));
  feedFile();
  return {};
}

void AuditLog::write(const Caller& caller, std::string_view method, const std::string& object,
                     const Status& outcome) {
  v1::AuditEntry entry;
  entry.set_id(newest_.id() + 1);
  *entry.mutable_at() = timestamp(parts_.clock());
  entry.set_user(caller.user);
  entry.set_known_by(caller.known_by);
  entry.set_token(caller.token);
  entry.set_from(caller.peer);
  entry.set_method(std::string(method));
  entry.set_object(shortened(object, kMostObjectBytes));
  entry.set_code(static_cast<int>(outcome.code()));
  entry.set_error(shortened(outcome.message(), kMostErrorBytes));
  entry.set_previous(newest_.hash());
  entry.set_hash(auditHash(entry));
  parts_.commits.wrote(parts_.store.putAudit(entry.id(), entry.user(), entry.SerializeAsString()));
  newest_ = entry;
  if (unsettled_.empty()) parts_.commits.whenDurable([this](const Status& status) { settled(status); });
  unsettled_.push_back(std::move(entry));
}

// Of a turn that was undone, nothing was written.
void AuditLog::settled(const Status& status) {
  const std::deque<v1::AuditEntry> entries = std::exchange(unsettled_, {});
  if (!status.ok()) {
    newest_ = durable_;
    return;
  }
  durable_ = entries.back();
  if (!file_) return;
  if (file_->last() + 1 != entries.front().id()) return feedFile();
  std::string lines;
  for (const v1::AuditEntry& each : entries) lines += auditLine(each) + '\n';
  if (const Status written = file_->append(lines, durable_.id()); !written.ok()) {
    if (!std::exchange(file_has_failed_, true))
      log::warning("the audit log's file lags behind the store: " + written.message());
  }
}

// From the store, which has them all.
void AuditLog::feedFile() {
  while (file_->last() < durable_.id()) {
    const Result<std::vector<v1::AuditEntry>> entries = entriesFrom(file_->last() + 1, kChunk);
    Status done = entries.status();
    if (done.ok() && !entries.value().empty()) {
      std::string lines;
      for (const v1::AuditEntry& each : entries.value()) lines += auditLine(each) + '\n';
      done = file_->append(lines, entries.value().back().id());
    }
    if (!done.ok() || entries.value().empty()) {
      if (!std::exchange(file_has_failed_, true))
        log::warning("the audit log's file lags behind the store: " + done.message());
      return;
    }
  }
  file_has_failed_ = false;
}

Result<v1::AuditEntry> AuditLog::entryAt(std::int64_t id) const {
  POP_ASSIGN_OR_RETURN(const std::vector<v1::AuditEntry> entries, entriesFrom(id, 1));
  if (entries.empty() || entries.front().id() != id)
    return Status(Code::kNotFound, "there is no entry " + std::to_string(id) + " in the audit log");
  return entries.front();
}

Result<std::vector<v1::AuditEntry>> AuditLog::entriesFrom(std::int64_t id, std::size_t most) const {
  POP_ASSIGN_OR_RETURN(const std::vector<StoredAudit> stored, parts_.store.audit(id, most));
  std::vector<v1::AuditEntry> entries(stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    // One that cannot be read is one that was changed, for who checks.
    if (!entries[i].ParseFromString(stored[i].bytes) || entries[i].id() != stored[i].id) {
      entries[i].Clear();
      entries[i].set_id(stored[i].id);
    }
  }
  return entries;
}

Result<v1::ListAuditReply> AuditLog::list(const std::string& user, int limit) const {
  if (limit < 0 || limit > kMostListed)
    return invalidArgument("limit is " + std::to_string(limit) + ", not one of 0 to 10000");
  const int wanted = limit == 0 ? kUsualLimit : limit;
  v1::ListAuditReply reply;
  std::int64_t end = newest_.id() + 1;
  while (end > 1 && reply.entries_size() < wanted) {
    const std::int64_t begin = std::max<std::int64_t>(1, end - static_cast<std::int64_t>(kChunk));
    POP_ASSIGN_OR_RETURN(const std::vector<v1::AuditEntry> entries,
                         entriesFrom(begin, static_cast<std::size_t>(end - begin)));
    for (auto each = entries.rbegin(); each != entries.rend() && reply.entries_size() < wanted; ++each) {
      if (each->id() < end && (user.empty() || each->user() == user)) *reply.add_entries() = *each;
    }
    end = begin;
  }
  return reply;
}

Result<v1::CheckAuditReply> AuditLog::check() const {
  v1::CheckAuditReply reply;
  std::optional<FileCheck> file;
  if (file_) file.emplace(file_->path());
  std::int64_t last = 0;
  std::string last_hash;
  const auto broken = [&](std::string what) {
    reply.set_broken(std::move(what));
    return reply;
  };
  while (last < durable_.id()) {
    POP_ASSIGN_OR_RETURN(const std::vector<v1::AuditEntry> entries, entriesFrom(last + 1, kChunk));
    if (entries.empty()) return broken("the entries from " + std::to_string(last + 1) + " on are missing");
    for (const v1::AuditEntry& each : entries) {
      if (each.id() > durable_.id()) break;
      if (const Status next = checkNext(each, last, last_hash); !next.ok()) return broken(next.message());
      const std::string differs = file && each.id() <= file_->last() ? file->compare(each) : "";
      if (!differs.empty()) return broken(differs);
      last = each.id();
      last_hash = each.hash();
      reply.set_entries(reply.entries() + 1);
    }
  }
  if (last_hash != durable_.hash()) return broken("entry " + std::to_string(last) + " was replaced");
  if (file) reply.set_broken(file->compareEnd());
  return reply;
}

}  // namespace pop::popdistd
