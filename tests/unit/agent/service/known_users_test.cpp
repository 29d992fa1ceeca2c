// SPDX-License-Identifier: Apache-2.0
#include "agent/service/known_users.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <semaphore>

#include "common/os/epoll_loop.h"

namespace pop::agent {
namespace {

using std::chrono::milliseconds;

Login loginCalled(const std::string& name) {
  return {.user = {.name = name, .uid = 7, .gid = 8, .home = "/home/of it", .shell = ""}, .groups = {8, 9}};
}

class KnownUsersTest : public ::testing::Test {
 protected:
  KnownUsers::Lookup lookup() {
    return [this](const std::string& name) -> Result<Login> {
      ++lookups_;
      may_end_.acquire();
      return loginCalled(name);
    };
  }

  // Runs until the look-ups have ended and are known.
  void runUntilKnown(KnownUsers& users, const std::string& name) {
    may_end_.release();
    for (int round = 0; round < 1000 && !users.find(name); ++round) {
      loop_.postAfter(milliseconds(1), [this] { loop_.stop(); });
      loop_.run();
    }
  }

  os::EpollLoop loop_;
  std::counting_semaphore<> may_end_{0};
  std::atomic<int> lookups_{0};
};

TEST_F(KnownUsersTest, KnowsWhoWasAskedForBefore) {
  KnownUsers users(loop_, lookup());
  EXPECT_FALSE(users.find("ada"));
  EXPECT_FALSE(users.find("ada"));
  runUntilKnown(users, "ada");
  EXPECT_EQ(users.find("ada"), loginCalled("ada"));
  EXPECT_EQ(lookups_, 1);
}

TEST_F(KnownUsersTest, ForgetsWhatMayHaveChanged) {
  KnownUsers users(loop_, lookup());
  EXPECT_FALSE(users.find("ada"));
  runUntilKnown(users, "ada");
  users.forget();
  EXPECT_FALSE(users.find("ada"));
  runUntilKnown(users, "ada");
  EXPECT_EQ(lookups_, 2);
}

TEST_F(KnownUsersTest, DropsWhatWasLookedUpBeforeAChange) {
  KnownUsers users(loop_, lookup());
  EXPECT_FALSE(users.find("ada"));
  while (lookups_ == 0) {
  }
  users.forget();
  may_end_.release();
  runUntilKnown(users, "ada");
  EXPECT_TRUE(users.find("ada"));
  EXPECT_EQ(lookups_, 2);
}

TEST_F(KnownUsersTest, LooksUpAgainWhatIsOld) {
  KnownUsers users(loop_, lookup(), {.renewed = milliseconds(0), .dropped = milliseconds(60'000)});
  EXPECT_FALSE(users.find("ada"));
  runUntilKnown(users, "ada");
  may_end_.release(1000);
  EXPECT_TRUE(users.find("ada"));
  while (lookups_ < 2) {
  }
}

TEST_F(KnownUsersTest, DoesNotKnowWhatIsTooOld) {
  KnownUsers users(loop_, lookup(), {.renewed = milliseconds(0), .dropped = milliseconds(0)});
  may_end_.release(1000);
  EXPECT_FALSE(users.find("ada"));
  while (lookups_ < 3) {  // so that two have ended
    loop_.postAfter(milliseconds(1), [this] { loop_.stop(); });
    loop_.run();
    EXPECT_FALSE(users.find("ada"));
  }
}

TEST(LoginTest, IsTheSameAsWords) {
  EXPECT_EQ(loginOf(wordsOf(loginCalled("ada"))).value(), loginCalled("ada"));
  EXPECT_FALSE(loginOf({"ada"}).ok());
  EXPECT_FALSE(loginOf({"ada", "-1", "8", "8", "/", "/bin/sh"}).ok());
  EXPECT_FALSE(loginOf({"ada", "7", "8", "", "/", "/bin/sh"}).ok());
}

TEST(LoginTest, HasTheUsersOwnGroup) {
  const UnixUser self = lookUpUser(::geteuid()).value();
  const Login login = lookUpLogin(self.name).value();
  EXPECT_EQ(login.user, self);
  EXPECT_NE(std::find(login.groups.begin(), login.groups.end(), self.gid), login.groups.end());
}

}  // namespace
}  // namespace pop::agent
