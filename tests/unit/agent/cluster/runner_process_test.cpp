// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/runner_process.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/service/unix_user.h"
#include "common/os/epoll_loop.h"

namespace pop::agent {
namespace {

constexpr int kOthers = 32;  // more than the descriptors that one runner gives back

std::string ownUser() {
  return lookUpUser(::geteuid()).value().name;
}

// Descriptors that the loop watches, with the lowest free numbers. They stop it when all were heard.
class Others {
 public:
  explicit Others(os::EpollLoop& loop) : loop_(loop) {}
  ~Others() {
    for (const sys::Fd& each : events_) loop_.unwatch(each.get());
  }

  void open() {
    for (int i = 0; i < kOthers; ++i) {
      const int fd = events_.emplace_back(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)).get();
      loop_.watchReadable(fd, [this, fd] {
        heard_.insert(fd);
        loop_.unwatchReadable(fd);
        if (heard_.size() == kOthers) loop_.stop();
      });
    }
  }
  void speak() {
    for (const sys::Fd& each : events_) EXPECT_EQ(::eventfd_write(each.get(), 1), 0);
  }
  int heard() const { return static_cast<int>(heard_.size()); }

 private:
  os::EpollLoop& loop_;
  std::vector<sys::Fd> events_;
  std::set<int> heard_;
};

TEST(RunnerProcess, ThatHasEndedTakesNoDescriptorFromTheNext) {
  os::EpollLoop loop;
  ZombieReaper zombies(loop);
  Others others(loop);
  std::unique_ptr<RunnerProcess> runner;
  const auto ended = [&](const RunnerEnd&) {
    others.open();
    loop.post([&] {
      runner.reset();
      others.speak();
    });
  };
  Result<std::unique_ptr<RunnerProcess>> started =
      RunnerProcess::start(loop, zombies, {ownUser(), {}, POP_BIN_DIR "/popdist-agent", "/bin/true", "/tmp"},
                           "", {.report = [](bool, std::string_view) {}, .ended = ended});
  ASSERT_TRUE(started.ok()) << started.status().message();
  runner = std::move(started.value());
  loop.postAfter(std::chrono::seconds(20), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(others.heard(), kOthers);
}

}  // namespace
}  // namespace pop::agent
