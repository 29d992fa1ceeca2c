// SPDX-License-Identifier: Apache-2.0
// Real processes, virtual time.
#include "agent/service/spares.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "agent/service/unix_user.h"
#include "common/base/check.h"
#include "tests/testing/fake_loop.h"
#include "tests/testing/process_tree.h"
#include "tests/unit/agent/service/test_zombie_reaper.h"

namespace pop::agent {
namespace {

using namespace std::chrono_literals;

// Children that this process gets from now on, but by forks alone: where a keeper was started, orphans of
// other tests come, too.
class NewChildren {
 public:
  NewChildren() {
    POP_CHECK(::prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
    before_ = testing::ownChildren();
  }
  std::vector<pid_t> list() const {
    std::vector<pid_t> children = testing::ownChildren();
    std::erase_if(children, [this](pid_t child) {
      return std::find(before_.begin(), before_.end(), child) != before_.end();
    });
    return children;
  }

 private:
  std::vector<pid_t> before_;
};

class SparesTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(testing::allAreReaped()); }

  // A process of our own, whichever user the job belongs to.
  Spares::Start start() {
    return [this](const std::string& user) -> Result<JobProcess> {
      started_.push_back(user);
      if (user == "broken") return unavailable("no such user");
      return startJobProcess(lookUpUser(::geteuid()).value().name, {"/bin/cat"}, POP_BIN_DIR "/popdist-agent",
                             testing::zombies());
    };
  }
  pid_t takePid(const std::string& user) {
    Result<JobProcess> process = spares_.take(user);
    EXPECT_TRUE(process.ok());
    taken_.push_back(std::move(*process));
    return taken_.back().pid();
  }

  NewChildren children_;
  testing::FakeLoop loop_;
  std::vector<std::string> started_;
  std::vector<JobProcess> taken_;
  Spares spares_{loop_, {.most = 2, .idle = 10min, .refill_delay = 200ms}, start()};
};

TEST_F(SparesTest, AreStartedAfterTheFirstJobOfAUser) {
  takePid("alice");
  EXPECT_EQ(spares_.count(), 0);
  loop_.advance(200ms);
  EXPECT_EQ(spares_.count(), 1);
  EXPECT_EQ(started_, (std::vector<std::string>{"alice", "alice"}));
}

TEST_F(SparesTest, AreTakenWithoutAStart) {
  takePid("alice");
  loop_.advance(1s);
  ASSERT_EQ(started_.size(), 2U);
  takePid("alice");
  EXPECT_EQ(started_.size(), 2U);
  EXPECT_EQ(spares_.count(), 0);
  EXPECT_FALSE(taken_.back().hasEnded());
  loop_.advance(1s);
  EXPECT_EQ(spares_.count(), 1);
}

TEST_F(SparesTest, AreOfTheirUserOnly) {
  takePid("alice");
  loop_.advance(1s);
  takePid("bob");
  EXPECT_EQ(started_, (std::vector<std::string>{"alice", "alice", "bob"}));
}

TEST_F(SparesTest, ThatHaveDiedAreReplaced) {
  const pid_t first = takePid("alice");
  loop_.advance(1s);
  const auto children = children_.list();
  ASSERT_EQ(children.size(), 2U);
  const pid_t spare = children[0] == first ? children[1] : children[0];
  ::kill(spare, SIGKILL);
  ASSERT_TRUE(testing::waitUntil([&] { return testing::statOf(spare)->state == 'Z'; }, 20s));
  EXPECT_NE(takePid("alice"), spare);
  EXPECT_FALSE(testing::statOf(spare).has_value());
}

TEST_F(SparesTest, ThatNobodyWantsGo) {
  takePid("alice");
  loop_.advance(9min);
  EXPECT_EQ(spares_.count(), 1);
  loop_.advance(2min);
  EXPECT_EQ(spares_.count(), 0);
  EXPECT_EQ(loop_.armedTimers(), 0U);
  EXPECT_TRUE(testing::allAreReaped());
  EXPECT_EQ(children_.list().size(), 1U);
}

TEST_F(SparesTest, AreBoundedTheOldestGoesFirst) {
  for (const char* user : {"a", "b", "c"}) {
    takePid(user);
    loop_.advance(1s);
  }
  EXPECT_EQ(spares_.count(), 2);
  started_.clear();
  takePid("b");
  takePid("c");
  takePid("a");
  EXPECT_EQ(started_, (std::vector<std::string>{"a"}));
}

TEST_F(SparesTest, AreStartedOnceHoweverManyJobsCome) {
  for (int i = 0; i < 5; ++i) takePid("alice");
  loop_.advance(1s);
  EXPECT_EQ(spares_.count(), 1);
  EXPECT_EQ(started_.size(), 6U);
}

TEST_F(SparesTest, ThatCannotBeStartedAreNoFailure) {
  EXPECT_FALSE(spares_.take("broken").ok());
  loop_.advance(1s);
  EXPECT_EQ(spares_.count(), 0);
}

// The user's groups may be others by now.
TEST_F(SparesTest, AreReplacedWhenUsersAreReadAgain) {
  takePid("alice");
  loop_.advance(1s);
  ASSERT_EQ(spares_.count(), 1);
  started_.clear();
  spares_.renew([](const std::string&) { return true; });
  EXPECT_EQ(spares_.count(), 0);
  loop_.advance(1s);
  EXPECT_EQ(spares_.count(), 1);
  takePid("alice");
  EXPECT_EQ(started_, std::vector<std::string>{"alice"}) << "after it";
}

TEST_F(SparesTest, OfUsersWhoMayNoLongerRunJobsGoAtOnce) {
  takePid("alice");
  loop_.advance(1s);
  takePid("bob");
  spares_.renew([](const std::string& user) { return user == "carol"; });
  EXPECT_EQ(spares_.count(), 0);
  loop_.advance(1s);
  EXPECT_EQ(spares_.count(), 0);
}

TEST(Spares, GoWithTheService) {
  testing::FakeLoop loop;
  ASSERT_TRUE(testing::allAreReaped());
  const NewChildren children;
  {
    Spares spares(loop, {.most = 4, .idle = 10min, .refill_delay = 0ms}, [](const std::string&) {
      return startJobProcess(lookUpUser(::geteuid()).value().name, {"/bin/cat"}, POP_BIN_DIR "/popdist-agent",
                             testing::zombies());
    });
    ASSERT_TRUE(spares.take("a").ok());
    loop.advance(1s);
    ASSERT_TRUE(testing::allAreReaped());
    ASSERT_EQ(children.list().size(), 1U);
    ASSERT_TRUE(spares.take("b").ok());
  }
  EXPECT_TRUE(testing::allAreReaped());
  EXPECT_TRUE(children.list().empty());
  EXPECT_EQ(loop.armedTimers(), 0U);
}

TEST(Spares, OfNoneAreNone) {
  testing::FakeLoop loop;
  Spares spares(loop, {.most = 0}, [](const std::string&) { return Result<JobProcess>(JobProcess()); });
  ASSERT_TRUE(spares.take("a").ok());
  EXPECT_EQ(loop.armedTimers(), 0U);
}

}  // namespace
}  // namespace pop::agent
