// SPDX-License-Identifier: Apache-2.0
// The audit log: its chain, what a crash leaves of it, and the check's findings after a change of it.
#include "popdistd/access/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>

#include "popdistd/access/audit_line.h"
#include "popdistd/store/sqlite_store.h"
#include "tests/testing/fake_loop.h"
#include "tests/testing/file_text.h"
#include "tests/testing/temp_dir.h"

namespace pop::popdistd {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class AuditTest : public ::testing::Test {
 protected:
  AuditTest() { startDaemon(); }

  void startDaemon() {
    loop_.emplace();
    store_ = SqliteStore::open(directory_.path() + "/state").value();
    commits_.emplace(*loop_, *store_, [](const Status&) {});
    log_.emplace(
        AuditLog::Parts{*store_, *commits_, [] { return std::chrono::system_clock::now(); }, file()});
    ASSERT_TRUE(log_->start().ok());
  }
  /// kill -9: what is not committed is gone.
  void killDaemon() {
    log_.reset();
    commits_.reset();
    store_.reset();
    loop_.reset();
  }
  void write(const std::string& object, const Status& outcome = {}) {
    log_->write({.user = "alice", .peer = "10.0.0.9 port 7", .known_by = v1::KNOWN_BY_CERTIFICATE}, "Cancel",
                object, outcome);
  }
  void writeMany(int count) {
    for (int i = 1; i <= count; ++i) {
      write("job " + std::to_string(i));
      loop_->runPosted();
      if (i % AuditLog::kMostDone == 0) log_->countOthers();  // a minute is over
    }
  }
  v1::CheckAuditReply check() { return log_->check().value(); }
  std::string file() const { return directory_.path() + "/state/audit.jsonl"; }
  std::string text() const { return pop::testing::fileText(file()); }
  std::int64_t lines() const {
    const std::string all = text();
    return std::count(all.begin(), all.end(), '\n');
  }

  /// Changes the store as a user with its file would.
  void runSql(const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((directory_.path() + "/state/store.db").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  static constexpr const char* kUnlock =
      "DROP TRIGGER audit_is_not_changed; DROP TRIGGER audit_is_not_removed;";

  pop::testing::TempDir directory_{"/dev/shm"};
  std::optional<pop::testing::FakeLoop> loop_;
  std::unique_ptr<SqliteStore> store_;
  std::optional<Commits> commits_;
  std::optional<AuditLog> log_;
};

TEST_F(AuditTest, IsReadInPiecesWhileItGrows) {
  for (int i = 0; i < 2500; ++i) {
    write("job");
    if (i % 500 == 0) log_->countOthers();  // a minute is over
  }
  loop_->runPosted();
  const auto checking = log_->checking();
  const auto listing = log_->listing("nobody", 10);
  EXPECT_FALSE(checking());
  EXPECT_FALSE(listing());
  write("job");
  loop_->runPosted();
  EXPECT_FALSE(checking());
  const std::optional<Result<v1::CheckAuditReply>> done = checking();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->value().broken(), "");
  EXPECT_EQ(done->value().entries(), 2501);
}

TEST_F(AuditTest, SaysWhoHowFromWhereWhatAndTheOutcome) {
  write("job 12", {Code::kPermissionDenied, "it is bob's"});
  loop_->runPosted();
  const v1::AuditEntry entry = log_->list("", 0).value().entries(0);
  EXPECT_EQ(entry.user(), "alice");
  EXPECT_EQ(entry.known_by(), v1::KNOWN_BY_CERTIFICATE);
  EXPECT_EQ(entry.from(), "10.0.0.9 port 7");
  EXPECT_EQ(entry.method(), "Cancel");
  EXPECT_EQ(entry.object(), "job 12");
  EXPECT_EQ(entry.code(), 7);
  EXPECT_EQ(entry.error(), "it is bob's");
  EXPECT_EQ(text(), auditLine(entry) + '\n');
  EXPECT_THAT(text(), HasSubstr(R"("known_by":"certificate")"));
  struct stat status {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(AuditTest, IsAChainOverAllLivesOfTheDaemon) {
  writeMany(3);
  killDaemon();
  startDaemon();
  writeMany(2);
  EXPECT_EQ(check().entries(), 5);
  EXPECT_EQ(check().broken(), "");
  const v1::ListAuditReply all = log_->list("", 0).value();
  ASSERT_EQ(all.entries_size(), 5);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(all.entries(i).previous(), all.entries(i + 1).hash());
  EXPECT_EQ(all.entries(4).previous(), "");
  EXPECT_EQ(lines(), 5);
}

TEST_F(AuditTest, StaysWholeWhereverTheDaemonIsKilled) {
  writeMany(2);
  write("job of a turn that is not committed");
  killDaemon();
  startDaemon();
  EXPECT_EQ(check().broken(), "");
  EXPECT_EQ(check().entries(), 2);
  // Between the commit and the file's line, and in the middle of a line.
  writeMany(2);
  const std::string whole = text();
  for (const std::size_t left : {whole.size() / 2, whole.size() - 1, std::size_t{0}}) {
    killDaemon();
    std::ofstream(file(), std::ios::trunc) << whole.substr(0, left);
    startDaemon();
    EXPECT_EQ(text(), whole);
    EXPECT_EQ(check().broken(), "");
    EXPECT_EQ(check().entries(), 4);
  }
}

TEST_F(AuditTest, NamesTheFirstEntryThatWasChanged) {
  writeMany(5);
  v1::AuditEntry entry = log_->list("", 0).value().entries(2);
  ASSERT_EQ(entry.id(), 3);
  entry.set_user("bob");
  std::string hex;
  for (const char byte : entry.SerializeAsString()) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(byte)));
    hex += digits.data();
  }
  runSql(std::string(kUnlock) + "UPDATE audit SET record = x'" + hex + "' WHERE id = 3");
  EXPECT_THAT(check().broken(), StartsWith("entry 3 was changed"));
  EXPECT_EQ(check().entries(), 2);
}

TEST_F(AuditTest, NamesWhatIsMissing) {
  writeMany(5);
  runSql(std::string(kUnlock) + "DELETE FROM audit WHERE id = 2");
  EXPECT_THAT(check().broken(), HasSubstr("entry 2 is missing"));
  runSql("DELETE FROM audit WHERE id > 1");
  EXPECT_THAT(check().broken(), HasSubstr("from 2 on"));
}

TEST_F(AuditTest, NamesTheFirstLineOfTheFileThatWasChanged) {
  writeMany(3);
  std::string changed = text();
  changed.replace(changed.find("job 2"), 5, "job 9");
  std::ofstream(file(), std::ios::trunc) << changed;
  EXPECT_THAT(check().broken(), HasSubstr("line 2"));
}

TEST_F(AuditTest, IsNotChangedByTheDaemonItself) {
  writeMany(1);
  EXPECT_EQ(store_->putAudit(1, "bob", "x").code(), Code::kAlreadyExists);
  EXPECT_TRUE(store_->commit().ok());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((directory_.path() + "/state/store.db").c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "DELETE FROM audit", nullptr, nullptr, nullptr), SQLITE_CONSTRAINT);
  EXPECT_EQ(sqlite3_exec(database, "UPDATE audit SET user = 'bob'", nullptr, nullptr, nullptr),
            SQLITE_CONSTRAINT);
  sqlite3_close(database);
}

TEST_F(AuditTest, BeginsANewFileWhereTheOldOneIsNotTheStores) {
  writeMany(2);
  killDaemon();
  std::ofstream(file(), std::ios::app) << R"({"id":3,"at":"of a store that was newer"})" << '\n';
  startDaemon();
  EXPECT_EQ(lines(), 2);
  EXPECT_EQ(check().broken(), "");
  int aside = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path() + "/state"))
    aside += entry.path().filename().string().starts_with("audit.jsonl.") ? 1 : 0;
  EXPECT_EQ(aside, 1) << "nothing is thrown away";
}

TEST_F(AuditTest, TakesNoLinesFromThoseWhoAreWrittenDown) {
  write("job \n{\"id\":2}" + std::string(100'000, 'x'));
  loop_->runPosted();
  EXPECT_EQ(lines(), 1);
  EXPECT_LT(text().size(), 2000U);
  EXPECT_EQ(check().broken(), "");
}

TEST_F(AuditTest, IsListedByUser) {
  writeMany(3);
  log_->write({.user = "bob"}, "Submit", "", {});
  loop_->runPosted();
  EXPECT_EQ(log_->list("bob", 0).value().entries_size(), 1);
  EXPECT_EQ(log_->list("", 2).value().entries(0).user(), "bob");
  EXPECT_EQ(log_->list("", 2).value().entries_size(), 2);
  EXPECT_EQ(log_->list("", -1).code(), Code::kInvalidArgument);
}

TEST_F(AuditTest, CallsThatFailOverAndOverAreCounted) {
  const auto fail = [this](const std::string& user, int times) {
    for (int i = 0; i < times; ++i) {
      log_->write({.user = user}, "CreateUser", "user u", {Code::kPermissionDenied, "a viewer"});
      loop_->runPosted();
    }
  };
  const auto entriesOf = [this](const std::string& user) { return log_->list(user, 10'000).value(); };
  fail("vera", 1000);
  fail("bob", 1);
  write("job 1");
  loop_->runPosted();
  EXPECT_EQ(entriesOf("vera").entries_size(), AuditLog::kMostFailures);
  EXPECT_THAT(entriesOf("vera").entries(0).error(), HasSubstr("only counted"));
  EXPECT_EQ(entriesOf("bob").entries_size(), 1);
  EXPECT_EQ(entriesOf("alice").entries_size(), 1);
  log_->countOthers();
  log_->countOthers();
  loop_->runPosted();
  ASSERT_EQ(entriesOf("vera").entries_size(), AuditLog::kMostFailures + 1);
  EXPECT_EQ(entriesOf("vera").entries(0).object(), "940 more calls: 940 CreateUser");
  fail("vera", 1);
  EXPECT_EQ(entriesOf("vera").entries_size(), AuditLog::kMostFailures + 2);
  EXPECT_EQ(check().broken(), "");
  EXPECT_EQ(lines(), check().entries());
}

// Calls that users may repeat without end would fill the disk, and etcd. No action of an admin is ever lost
// among them.
TEST_F(AuditTest, CallsThatAreDoneOverAndOverAreCounted) {
  const auto entries = [this] { return log_->list("alice", 10'000).value(); };
  for (int i = 0; i < 1000; ++i) {
    write("job 1");
    if (i % 2 == 0) log_->write({.user = "alice"}, "Submit", "job 2", {});
    loop_->runPosted();
  }
  EXPECT_EQ(entries().entries_size(), AuditLog::kMostDone);
  log_->write({.user = "alice"}, "CreateUser", "user mallory", {});
  log_->write({.user = "alice"}, "Cancel", "job 9", {Code::kPermissionDenied, "bob's"});
  log_->write({.user = "bob"}, "Cancel", "job 1", {});
  loop_->runPosted();
  EXPECT_EQ(entries().entries_size(), AuditLog::kMostDone + 2);
  EXPECT_EQ(log_->list("bob", 10).value().entries_size(), 1);
  log_->countOthers();
  log_->countOthers();
  loop_->runPosted();
  EXPECT_EQ(entries().entries_size(), AuditLog::kMostDone + 3);
  EXPECT_EQ(entries().entries(0).object(), "900 more calls: 600 Cancel, 300 Submit");
  EXPECT_EQ(entries().entries(0).code(), 0);
  EXPECT_EQ(check().broken(), "");
  EXPECT_EQ(lines(), check().entries());
}

}  // namespace
}  // namespace pop::popdistd
