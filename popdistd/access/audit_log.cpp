// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/audit_log.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>

#include "common/base/text.h"
#include "common/log/log.h"
#include "popdistd/access/audit_line.h"
#include "popdistd/access/policy.h"

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

  /// The difference, in words; empty: none.
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

template <typename T>
Result<T> allOf(const AuditLog::Step<T>& step) {
  while (true) {
    if (std::optional<Result<T>> done = step()) return std::move(*done);
  }
}

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
  entry.set_user(caller.user);
  entry.set_known_by(caller.known_by);
  entry.set_token(caller.token);
  entry.set_from(caller.peer);
  entry.set_method(std::string(method));
  entry.set_object(shortened(object, kMostObjectBytes));
  entry.set_code(static_cast<int>(outcome.code()));
  entry.set_error(shortened(outcome.message(), kMostErrorBytes));
  if (!isOneTooMany(entry)) add(std::move(entry));
}

// Most calls cost their caller little, and an entry is kept for ever.
bool AuditLog::isOneTooMany(v1::AuditEntry& entry) {
  const bool is_done = entry.code() == 0;
  if (is_done && ruleOf(entry.method()).least >= v1::ROLE_OPERATOR) return false;
  Count& count = (is_done ? done_ : failures_)[entry.user()];
  const std::int64_t most = is_done ? kMostDone : kMostFailures;
  if (++count.calls == most && !is_done)
    entry.set_error(entry.error() + "; more that fail within a minute are only counted");
  if (count.calls > most) ++count.others[entry.method()];
  return count.calls > most;
}

void AuditLog::countOthers() {
  countOthers(std::exchange(failures_, {}), Code::kResourceExhausted,
              "they failed, too many within a minute to have entries of their own");
  countOthers(std::exchange(done_, {}), Code::kOk, "");
}

// "940 more calls: 900 Cancel, 40 Submit"
void AuditLog::countOthers(const std::map<std::string, Count>& counts, Code code, const std::string& why) {
  for (const auto& [user, count] : counts) {
    std::int64_t others = 0;
    std::vector<std::string> methods;
    for (const auto& [method, times] : count.others) {
      others += times;
      methods.push_back(std::to_string(times) + ' ' + method);
    }
    if (others == 0) continue;
    v1::AuditEntry entry;
    entry.set_user(user);
    entry.set_object(counted(others, "more call") + ": " + join(methods, ", "));
    entry.set_code(static_cast<int>(code));
    entry.set_error(why);
    add(std::move(entry));
  }
}

void AuditLog::add(v1::AuditEntry entry) {
  entry.set_id(newest_.id() + 1);
  *entry.mutable_at() = timestamp(parts_.clock());
  entry.set_previous(newest_.hash());
  entry.set_hash(auditHash(entry));
  parts_.commits.wrote(parts_.store.putAudit(entry.id(), entry.user(), entry.SerializeAsString()));
  newest_ = entry;
  if (unsettled_.empty()) parts_.commits.whenDurable([this](const Status& status) { settled(status); });
  unsettled_.push_back(std::move(entry));
}

// An undone turn has written nothing.
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
    // An entry that cannot be read counts as changed.
    if (!entries[i].ParseFromString(stored[i].bytes) || entries[i].id() != stored[i].id) {
      entries[i].Clear();
      entries[i].set_id(stored[i].id);
    }
  }
  return entries;
}

AuditLog::Step<v1::ListAuditReply> AuditLog::listing(const std::string& user, int limit) const {
  using Piece = std::optional<Result<v1::ListAuditReply>>;
  if (limit < 0 || limit > kMostListed)
    return [limit] {
      return Piece(invalidArgument("limit is " + std::to_string(limit) + ", not one of 0 to 10000"));
    };
  const int wanted = limit == 0 ? kUsualLimit : limit;
  return [this, user, wanted, reply = v1::ListAuditReply(), end = newest_.id() + 1]() mutable -> Piece {
    const std::int64_t begin = std::max<std::int64_t>(1, end - static_cast<std::int64_t>(kChunk));
    const auto entries = entriesFrom(begin, static_cast<std::size_t>(end - begin));
    if (!entries.ok()) return Result<v1::ListAuditReply>(entries.status());
    for (auto each = entries.value().rbegin(); each != entries.value().rend(); ++each) {
      if (reply.entries_size() == wanted) break;
      if (each->id() < end && (user.empty() || each->user() == user)) *reply.add_entries() = *each;
    }
    end = begin;
    return end > 1 && reply.entries_size() < wanted ? Piece() : Piece(std::move(reply));
  };
}

Result<v1::ListAuditReply> AuditLog::list(const std::string& user, int limit) const {
  return allOf(listing(user, limit));
}

// The state of one check of the whole log.
struct AuditLog::Check {
  v1::CheckAuditReply reply;
  std::optional<FileCheck> file;
  std::int64_t last = 0;
  std::string last_hash;

  bool broken(std::string what) {
    reply.set_broken(std::move(what));
    return true;
  }
};

// True: it is done. What is written meanwhile is read, too.
Result<bool> AuditLog::checkOn(Check& check) const {
  if (check.last < durable_.id()) {
    POP_ASSIGN_OR_RETURN(const std::vector<v1::AuditEntry> entries, entriesFrom(check.last + 1, kChunk));
    if (entries.empty())
      return check.broken("the entries from " + std::to_string(check.last + 1) + " on are missing");
    for (const v1::AuditEntry& each : entries) {
      if (each.id() > durable_.id()) break;
      if (const Status next = checkNext(each, check.last, check.last_hash); !next.ok())
        return check.broken(next.message());
      const bool is_in_file = check.file && each.id() <= file_->last();
      if (const std::string differs = is_in_file ? check.file->compare(each) : ""; !differs.empty())
        return check.broken(differs);
      check.last = each.id();
      check.last_hash = each.hash();
      check.reply.set_entries(check.reply.entries() + 1);
    }
    if (check.last < durable_.id()) return false;
  }
  if (check.last_hash != durable_.hash())
    return check.broken("entry " + std::to_string(check.last) + " was replaced");
  if (check.file) check.reply.set_broken(check.file->compareEnd());
  return true;
}

AuditLog::Step<v1::CheckAuditReply> AuditLog::checking() const {
  const auto check = std::make_shared<Check>();
  if (file_) check->file.emplace(file_->path());
  return [this, check]() -> std::optional<Result<v1::CheckAuditReply>> {
    const Result<bool> is_done = checkOn(*check);
    if (!is_done.ok()) return Result<v1::CheckAuditReply>(is_done.status());
    return is_done.value() ? std::optional(Result<v1::CheckAuditReply>(check->reply)) : std::nullopt;
  };
}

Result<v1::CheckAuditReply> AuditLog::check() const {
  return allOf(checking());
}

}  // namespace pop::popdistd
