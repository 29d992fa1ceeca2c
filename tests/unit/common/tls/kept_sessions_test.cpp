// SPDX-License-Identifier: Apache-2.0
// The file that sessions are kept in: for its owner only, and whatever is wrong with it, as if it were not
// there.
#include "common/tls/kept_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/testing/file_text.h"
#include "tests/testing/temp_dir.h"

namespace pop::tls {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::time_t kNow = 1'000'000;

class KeptSessionsFile : public ::testing::Test {
 protected:
  static tls::KeptSession session(const std::string& service, std::time_t until = kNow + 100) {
    return {std::string("\0\x01", 2), service, kNow, until, std::string("se\0cret", 7)};
  }
  void write(const std::vector<tls::KeptSession>& sessions) const {
    const Status written = writeKeptSessions(path_, sessions);
    ASSERT_TRUE(written.ok()) << written.message();
  }
  std::vector<tls::KeptSession> read() const { return readKeptSessions(path_, kNow); }

  std::string bytes() const { return testing::fileText(path_); }
  void setBytes(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  static unsigned modeOf(const std::string& path) {
    struct stat file {};
    EXPECT_EQ(::stat(path.c_str(), &file), 0);
    return file.st_mode & 07777U;
  }

  testing::TempDir directory_;
  std::string tls_ = directory_.path() + "/cache/poprun/tls";
  std::string path_ = tls_ + "/sessions";
};

TEST_F(KeptSessionsFile, GivesBackWhatWasWritten) {
  write({session("h0:1", kNow + 300), session("h1:1", kNow + 200)});
  EXPECT_THAT(read(), ElementsAre(session("h0:1", kNow + 300), session("h1:1", kNow + 200)));
  write({session("h2:1")});
  EXPECT_THAT(read(), ElementsAre(session("h2:1")));
}

TEST_F(KeptSessionsFile, IsForItsOwnerOnly) {
  const mode_t mask = ::umask(0);
  write({session("h0:1")});
  ::umask(mask);
  EXPECT_EQ(modeOf(path_), 0600U);
  for (const std::string& made : {tls_, directory_.path() + "/cache/poprun", directory_.path() + "/cache"})
    EXPECT_EQ(modeOf(made), 0700U) << made;
}

// Of launchers that were killed, but not of those that write just now.
TEST_F(KeptSessionsFile, IsClearedOfWhatWasNeverEnded) {
  write({session("h0:1")});
  std::ofstream(path_ + ".abcdef") << "left";
  std::ofstream(path_ + ".ghijkl") << "being written";
  fs::last_write_time(path_ + ".abcdef", fs::file_time_type::clock::now() - std::chrono::minutes(2));
  write({session("h1:1")});
  EXPECT_FALSE(fs::exists(path_ + ".abcdef"));
  EXPECT_TRUE(fs::exists(path_ + ".ghijkl"));
  EXPECT_THAT(read(), ElementsAre(session("h1:1")));
}

TEST_F(KeptSessionsFile, LeavesNothingBeside) {
  write({session("h0:1")});
  write({session("h0:1")});
  EXPECT_EQ(std::distance(fs::directory_iterator(tls_), {}), 1);
}

TEST_F(KeptSessionsFile, ThatIsDamagedIsNone) {
  write({session("h0:1"), session("h1:1")});
  const std::string whole = bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    setBytes(damaged);
    EXPECT_THAT(read(), IsEmpty()) << at;
    setBytes(whole.substr(0, at));
    EXPECT_THAT(read(), IsEmpty()) << at;
  }
  setBytes(whole + '.');
  EXPECT_THAT(read(), IsEmpty());
  setBytes(whole);
  EXPECT_EQ(read().size(), 2U);
}

TEST_F(KeptSessionsFile, ThatOthersCanReadIsNone) {
  write({session("h0:1")});
  for (const mode_t mode : {0640U, 0604U, 0620U}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    EXPECT_THAT(read(), IsEmpty()) << mode;
  }
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  EXPECT_EQ(read().size(), 1U);
}

TEST_F(KeptSessionsFile, InADirectoryOfOthersIsNone) {
  write({session("h0:1")});
  ASSERT_EQ(::chmod(tls_.c_str(), 0755), 0);
  EXPECT_THAT(read(), IsEmpty());
  EXPECT_FALSE(writeKeptSessions(path_, {session("h0:1")}).ok());
}

TEST_F(KeptSessionsFile, ThatBelongsToSomebodyElseIsNone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  write({session("h0:1")});
  ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_THAT(read(), IsEmpty());
}

// sudo keeps HOME.
TEST_F(KeptSessionsFile, IsNotMadeInSomebodyElsesHome) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give directories away";
  ASSERT_EQ(::chown(directory_.path().c_str(), 65534, 65534), 0);
  EXPECT_THAT(writeKeptSessions(path_, {session("h0:1")}).message(), HasSubstr("belongs to another user"));
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(KeptSessionsFile, IsNotFoundElsewhere) {
  write({session("h0:1")});
  fs::rename(path_, directory_.path() + "/elsewhere");
  fs::create_symlink(directory_.path() + "/elsewhere", path_);
  EXPECT_THAT(read(), IsEmpty());
  write({session("h1:1")});  // in the place of the link
  EXPECT_THAT(read(), ElementsAre(session("h1:1")));
  EXPECT_FALSE(fs::is_symlink(path_));
}

TEST_F(KeptSessionsFile, KeepsOutWhatIsOverOrToCome) {
  tls::KeptSession to_come = session("h2:1");
  to_come.from = kNow + 1;
  write({session("h0:1", kNow), session("h1:1", kNow + 1), to_come});
  EXPECT_THAT(read(), ElementsAre(session("h1:1", kNow + 1)));
}

TEST_F(KeptSessionsFile, IsBounded) {
  std::vector<tls::KeptSession> many;
  for (std::size_t i = 0; i < kMaxKeptSessions + 10; ++i)
    many.push_back(session('h' + std::to_string(i), kNow + 1 + static_cast<std::time_t>(i)));
  write(many);
  EXPECT_EQ(read().size(), kMaxKeptSessions);
  EXPECT_EQ(read().front(), many.back());
}

// In a process of its own, whose environment nobody else needs.
TEST(KeptSessionsPathDeathTest, IsInTheUsersCache) {
  const auto path = [](const char* cache) {
    ::setenv("HOME", "/home/alice", 1);
    ::setenv("XDG_CACHE_HOME", cache, 1);
    std::fputs(keptSessionsPath().c_str(), stderr);
    std::_Exit(0);
  };
  EXPECT_EXIT(path("/somewhere"), ::testing::ExitedWithCode(0), "^/somewhere/poprun/tls/sessions$");
  EXPECT_EXIT(path("relative"), ::testing::ExitedWithCode(0), "^/home/alice/.cache/poprun/tls/sessions$");
}

}  // namespace
}  // namespace pop::tls
