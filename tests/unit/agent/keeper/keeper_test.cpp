// SPDX-License-Identifier: Apache-2.0
// The keeper in a process of its own, and real processes below it.
#include "agent/keeper/keeper.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "agent/keeper/keeper_wire.h"
#include "common/base/check.h"
#include "common/contract/frame.h"
#include "common/model/end_times.h"
#include "common/sys/unix_socket.h"
#include "tests/testing/tracer.h"

namespace pop::keeper {
namespace {

constexpr int kTimeoutMs = 20'000;

bool becomesReadable(int fd) {
  pollfd readable{fd, POLLIN, 0};
  return ::poll(&readable, 1, kTimeoutMs) == 1;
}

// True if the process ends, whatever its parent is.
bool ends(pid_t pid) {
  const sys::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return process.valid() && becomesReadable(process.get());
}

class KeeperTest : public ::testing::Test {
 protected:
  ~KeeperTest() override {
    if (keeper_.pid > 0) {
      EXPECT_TRUE(end().ok());
    }
  }

  Status end() {
    Keeper keeper = std::move(keeper_);
    keeper_.pid = -1;
    return endKeeper(std::move(keeper));
  }

  Message nextReport() {
    while (true) {
      if (const std::optional<Message> message = nextMessage(reader_)) return *message;
      POP_CHECK(becomesReadable(keeper_.link.get()));
      reader_.append(sys::receiveSome(keeper_.link.get()).value().bytes);
    }
  }

  /// `passed`: becomes its descriptor 20; -1: none.
  void order(int instance, const std::string& script, int input, int passed = -1) const {
    const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    std::vector<int> descriptors{input, null.get(), null.get()};
    if (passed >= 0) descriptors.push_back(passed);
    const Message spawn{Kind::kSpawn,
                        {.instance = instance, .descriptors = descriptors.size(), .arguments = 3},
                        {"", "", "", "/bin/sh", "-c", script}};
    EXPECT_TRUE(sys::sendAll(keeper_.link.get(), encode(spawn), descriptors).ok());
  }

  /// The pid of a shell with `script`.
  pid_t start(int instance, const std::string& script, int input, int passed = -1) {
    order(instance, script, input, passed);
    const Message started = nextReport();
    EXPECT_EQ(started.kind, Kind::kSpawned);
    return started.numbers.value;
  }

  /// The next instance whose end is reported, and how waitpid has put it.
  std::pair<int, int> nextEnd() {
    const Message reaped = nextReport();
    EXPECT_EQ(reaped.kind, Kind::kReaped);
    return {reaped.numbers.instance, reaped.numbers.value};
  }

  const Keeper& keeper() const { return keeper_; }

  void stopKeeper() const {
    ::kill(keeper_.pid, SIGSTOP);
    siginfo_t stopped{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(keeper_.pid), &stopped, WSTOPPED), 0);
  }
  /// The limit that there was.
  rlim_t limitDescriptorsOfKeeper(rlim_t most) const {
    rlimit limit{};
    EXPECT_EQ(::prlimit(keeper_.pid, RLIMIT_NOFILE, nullptr, &limit), 0);
    const rlim_t before = std::exchange(limit.rlim_cur, most);
    EXPECT_EQ(::prlimit(keeper_.pid, RLIMIT_NOFILE, &limit, nullptr), 0);
    return before;
  }
  void continueKeeper() const { ::kill(keeper_.pid, SIGCONT); }

 private:
  Keeper keeper_ = forkKeeper().value();
  contract::FrameReader reader_;
};

// The first that is reported is the job's failure, and one whose peer was killed fails a moment later.
TEST_F(KeeperTest, ReportsThoseWhoWereKilledBeforeThoseThatExitedAtTheSameTime) {
  for (const int killed : {0, 1}) {
    sys::Pipe input = sys::makePipe().value();
    std::array<pid_t, 2> pids{};
    for (const int instance : {0, 1})
      pids.at(static_cast<std::size_t>(instance)) =
          start(instance, "read line; exit 3", input.read_end.get());
    stopKeeper();
    ::kill(pids.at(static_cast<std::size_t>(killed)), SIGKILL);
    input.write_end.reset();
    for (const pid_t pid : pids) EXPECT_TRUE(ends(pid));
    continueKeeper();
    EXPECT_EQ(nextEnd(), std::pair(killed, SIGKILL));
    EXPECT_EQ(nextEnd(), std::pair(1 - killed, 3 << 8));
  }
}

TEST_F(KeeperTest, StartsNothingWithoutItsDescriptorsAndGoesOn) {
  const sys::Pipe silent = sys::makePipe().value();
  start(0, "read line", silent.read_end.get());
  const rlim_t before = limitDescriptorsOfKeeper(4);  // it has those
  for (const int instance : {1, 2}) order(instance, "exit 0", silent.read_end.get());
  for (const int instance : {1, 2}) {
    const Message failed = nextReport();
    ASSERT_EQ(failed.kind, Kind::kSpawnFailed);
    EXPECT_EQ(failed.numbers.instance, instance);
    EXPECT_THAT(failed.texts.at(0), ::testing::HasSubstr("ulimit -n"));
  }
  limitDescriptorsOfKeeper(before);
  sys::Pipe own = sys::makePipe().value();
  start(3, "read line; exit 7", own.read_end.get());
  own.write_end.reset();
  EXPECT_EQ(nextEnd(), std::pair(3, 7 << 8));
}

TEST_F(KeeperTest, PassesADescriptorToOneProcessAndNotToTheNext) {
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  sys::Pipe passed = sys::makePipe().value();
  start(0, "echo passed >/proc/self/fd/20", null.get(), passed.write_end.get());
  EXPECT_EQ(nextEnd(), std::pair(0, 0));
  passed.write_end.reset();
  std::array<char, 16> text{};
  EXPECT_EQ(::read(passed.read_end.get(), text.data(), text.size()), 7) << "and nobody else holds it";
  EXPECT_EQ(::read(passed.read_end.get(), text.data(), text.size()), 0);
  start(1, "test -e /proc/self/fd/20 || exit 3", null.get());
  EXPECT_EQ(nextEnd(), std::pair(1, 3 << 8));
}

TEST_F(KeeperTest, EndsTheAgentsHelpersWithTheLeftovers) {
  const sys::Pipe silent = sys::makePipe().value();
  const pid_t helper = start(-1, "read line", silent.read_end.get());
  order(-2, "read line", silent.read_end.get());  // it may not have started yet
  EXPECT_TRUE(sys::sendAll(keeper().link.get(), encode({Kind::kEndLeftovers, {}, {}})).ok());
  EXPECT_EQ(nextReport().kind, Kind::kSpawned);
  EXPECT_EQ(nextEnd(), std::pair(-2, SIGKILL));
  EXPECT_EQ(nextEnd(), std::pair(-1, SIGKILL));
  EXPECT_EQ(nextReport().kind, Kind::kLeftoversEnded);
  EXPECT_EQ(::kill(helper, 0), -1);
}

// A caller that waits for an agent that ends its keeper counts on that time.
TEST_F(KeeperTest, IsGivenItsTimeForWhatResistsSigkillAndNoMore) {
  sys::Pipe input = sys::makePipe().value();
  const pid_t resisting = start(0, "read line", input.read_end.get());
  testing::Tracer tracer(resisting);
  if (!tracer.holds()) GTEST_SKIP() << "nobody may be traced here";
  const auto begin = std::chrono::steady_clock::now();
  const Status ended = end();
  EXPECT_LE(std::chrono::steady_clock::now() - begin, kMaxEndTime);
  EXPECT_EQ(ended.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(ended.message(), ::testing::HasSubstr("resists SIGKILL"));
  tracer.letGo();
  EXPECT_EQ(::waitpid(resisting, nullptr, 0), resisting) << "it has come to us";
}

}  // namespace
}  // namespace pop::keeper
