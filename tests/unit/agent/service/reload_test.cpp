// SPDX-License-Identifier: Apache-2.0
#include "agent/service/reload.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <stop_token>

#include "common/os/epoll_loop.h"

namespace pop::agent {
namespace {

class ReloadTest : public ::testing::Test {
 protected:
  Reload::Read readOnce() {
    return [this](const std::stop_token&) {
      ++read_;
      may_end_.acquire();
      return [this] {
        if (++used_ == wanted_) loop_.stop();
      };
    };
  }

  os::EpollLoop loop_;
  std::counting_semaphore<> may_end_{0};
  std::atomic<int> read_{0};
  int used_ = 0;
  int wanted_ = 1;
};

TEST_F(ReloadTest, LetsTheLoopGoOn) {
  Reload reload(loop_, readOnce());
  reload.start();
  loop_.post([this] { may_end_.release(); });
  loop_.run();
  EXPECT_EQ(used_, 1);
}

TEST_F(ReloadTest, IsDoneOnceMoreForAllWhoAskMeanwhile) {
  wanted_ = 2;
  {
    Reload reload(loop_, readOnce());
    for (int i = 0; i < 4; ++i) reload.start();
    may_end_.release(4);
    loop_.run();
  }
  EXPECT_EQ(used_, 2);
  EXPECT_EQ(read_, 2);
}

TEST_F(ReloadTest, IsDoneAgainWheneverItIsAskedFor) {
  Reload reload(loop_, readOnce());
  may_end_.release(2);
  reload.start();
  loop_.run();
  wanted_ = 2;
  reload.start();
  loop_.run();
  EXPECT_EQ(read_, 2);
}

TEST_F(ReloadTest, ThatIsStoppedEndsSoonAndIsNotUsed) {
  {
    Reload reload(loop_, [this](const std::stop_token& stop) {
      std::binary_semaphore asked{0};
      const std::stop_callback on_stop(stop, [&asked] { asked.release(); });
      asked.acquire();
      loop_.post([this] { loop_.stop(); });
      return [this] { ++used_; };
    });
    reload.start();
    reload.stop();
    reload.start();
    loop_.run();
  }
  EXPECT_EQ(used_, 0);
}

}  // namespace
}  // namespace pop::agent
