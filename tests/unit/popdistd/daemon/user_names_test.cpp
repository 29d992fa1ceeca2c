// SPDX-License-Identifier: Apache-2.0
// Users of this machine whose names a name service takes long to say.
#include "popdistd/user_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <utility>

#include "common/sys/unix_socket.h"
#include "popdistd/local_socket.h"
#include "tests/testing/run_until.h"
#include "tests/testing/temp_dir.h"

namespace pop::popdistd {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr uid_t kSlow = 70001;

class UserNamesTest : public ::testing::Test {
 protected:
  ~UserNamesTest() override { answer(); }

  /// The name services have an answer for `slow` once answer() is called, for others at once.
  UserNames::Lookup lookup(uid_t slow = kSlow) {
    return [=, answers = answers_.get_future().share(), count = lookups_](uid_t user) {
      ++*count;
      if (user == slow) answers.wait();
      return std::optional("u" + std::to_string(user));
    };
  }
  void answer() {
    if (!std::exchange(is_answered_, true)) answers_.set_value();
  }
  UserNames::Found toHeard() {
    return [this](const std::optional<std::string>& name) { heard_.push_back(name.value_or("-")); };
  }
  /// A local socket for this process, the name of whose user takes long.
  std::unique_ptr<LocalSocket> listen() {
    auto socket = std::move(LocalSocket::listen(loop_, path_, lookup(::geteuid())).value());
    socket->accept([this](const sys::Fd& connection, const std::string& user) {
      EXPECT_TRUE(connection.valid());
      heard_.push_back(user);
      return Status();
    });
    return socket;
  }

  os::EpollLoop loop_;
  const testing::TempDir directory_;
  const std::string path_ = directory_ / "socket";
  std::vector<std::string> heard_;
  const std::shared_ptr<std::atomic<int>> lookups_ = std::make_shared<std::atomic<int>>(0);

 private:
  std::promise<void> answers_;
  bool is_answered_ = false;
};

TEST_F(UserNamesTest, ThatTakeLongHoldUpNoOthers) {
  UserNames names(loop_, lookup());
  EXPECT_TRUE(names.find(kSlow, toHeard()).ok());
  EXPECT_TRUE(names.find(1, toHeard()).ok());
  testing::runUntil(loop_, [this] { return !heard_.empty(); });
  EXPECT_THAT(heard_, ElementsAre("u1"));
  answer();
  testing::runUntil(loop_, [this] { return heard_.size() == 2; });
  EXPECT_THAT(heard_, ElementsAre("u1", "u70001"));
}

TEST_F(UserNamesTest, OfOneUserAreLookedUpOnceForAllWhoWaitUpToALimit) {
  UserNames names(loop_, lookup());
  for (std::size_t i = 0; i < UserNames::kMostOfAUser; ++i) EXPECT_TRUE(names.find(kSlow, toHeard()).ok());
  EXPECT_EQ(names.find(kSlow, toHeard()).code(), Code::kResourceExhausted);
  EXPECT_TRUE(names.find(1, toHeard()).ok());
  answer();
  testing::runUntil(loop_, [this] { return heard_.size() == UserNames::kMostOfAUser + 1; });
  EXPECT_EQ(*lookups_, 2);
  EXPECT_TRUE(names.find(kSlow, toHeard()).ok()) << "there is room again";
}

TEST_F(UserNamesTest, ThatComeTooLateReachNobody) {
  {
    UserNames names(loop_, lookup());
    EXPECT_TRUE(names.find(kSlow, toHeard()).ok());
  }
  answer();
  testing::runIdle(loop_);
  EXPECT_THAT(heard_, ElementsAre());
}

TEST_F(UserNamesTest, OfTheLocalSocketsUsersDoNotHoldUpTheLoop) {
  const auto socket = listen();
  const auto one = sys::connectPath(path_);
  const auto other = sys::connectPath(path_);
  ASSERT_TRUE(one.ok() && other.ok());
  testing::runUntil(loop_, [this] { return *lookups_ == 1; });
  EXPECT_THAT(heard_, ElementsAre());
  answer();
  testing::runUntil(loop_, [this] { return heard_.size() == 2; });
  EXPECT_THAT(heard_, Each("u" + std::to_string(::geteuid())));
}

// More than the socket accepts in one turn of the loop.
TEST_F(UserNamesTest, OfManyConnectionsAtOnceAreFoundForAll) {
  const auto socket = listen();
  std::vector<sys::Fd> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(std::move(sys::connectPath(path_).value()));
  testing::runUntil(loop_, [this] { return *lookups_ == 1; });
  testing::runIdle(loop_);  // all are accepted, and wait
  answer();
  testing::runUntil(loop_, [this] { return heard_.size() >= 200; });
  EXPECT_THAT(heard_, SizeIs(200));
}

}  // namespace
}  // namespace pop::popdistd
