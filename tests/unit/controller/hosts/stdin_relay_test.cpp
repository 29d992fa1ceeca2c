// SPDX-License-Identifier: Apache-2.0
// The launcher's stdin on its way to other hosts: over attempts, and where hosts are lost.
#include "controller/hosts/stdin_relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <variant>

#include "tests/testing/fake_output.h"
#include "tests/testing/run_until.h"

namespace pop {
namespace {

constexpr std::size_t kBytes = 2 << 20;
// The most that may be on the way to a host: the link's window, a pipe, and a buffer.
constexpr std::size_t kAheadBytes = 3 * (64 << 10);

// Numbers, so that a lost or swapped piece is noticed.
const std::string& text() {
  static const std::string text = [] {
    std::string lines;
    for (int line = 0; lines.size() < kBytes; ++line) lines += std::to_string(line) + '\n';
    return lines;
  }();
  return text;
}

// The text as this process's stdin.
class StdinFile {
 public:
  StdinFile() : before_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) {
    const sys::Fd file(::memfd_create("input", MFD_CLOEXEC));
    POP_CHECK(sys::writeAll(file.get(), text()).ok() && ::lseek(file.get(), 0, SEEK_SET) == 0);
    POP_CHECK(::dup2(file.get(), STDIN_FILENO) == STDIN_FILENO);
  }
  ~StdinFile() { before_.valid() ? ::dup2(before_.get(), STDIN_FILENO) : ::close(STDIN_FILENO); }
  StdinFile(const StdinFile&) = delete;
  StdinFile& operator=(const StdinFile&) = delete;

  static std::size_t position() { return static_cast<std::size_t>(::lseek(STDIN_FILENO, 0, SEEK_CUR)); }

 private:
  const sys::Fd before_;
};

// A host, and what has come over the link to it.
class Host final : public CommandLink {
 public:
  explicit Host(os::EpollLoop& loop) : agent(loop, output, {.silence = std::chrono::hours(1)}) {
    agent.linkUp(*this);
  }

  void send(NumberedCommand command) override {
    const auto* input = std::get_if<InputCommand>(&command.command);
    if (input == nullptr) return;
    EXPECT_FALSE(ended) << "nothing comes after the end";
    ended = input->bytes.empty();
    got += input->bytes;
  }
  void close() override {}

  /// Has room again.
  void take() {
    const std::size_t bytes = got.size() - taken_;
    taken_ = got.size();
    if (bytes > 0) agent.receive({++reported_, InputTakenReport{static_cast<std::int64_t>(bytes)}});
  }

  /// Its instances have all closed their stdin.
  void leaveUnread() { agent.receive({++reported_, InputUnreadReport{}}); }

  std::string got;
  bool ended = false;
  testing::FakeOutput output;
  RemoteAgent agent;

 private:
  std::size_t taken_ = 0;
  std::uint64_t reported_ = 0;
};

class StdinRelayTest : public ::testing::Test {
 protected:
  // Reads until nothing can come before a host takes something.
  void fill() { testing::runIdle(loop); }
  void lose(Host& host) {
    host.agent.linkLost(unavailable("gone"));
    testing::runIdle(loop);
  }
  void readToTheEnd(Host& host) {
    testing::runUntil(loop, [&] {
      host.take();
      return host.ended;
    });
  }

  StdinFile input;
  os::EpollLoop loop;
  Host h0{loop};
  Host h1{loop};
  StdinRelay relay{loop};
};

TEST_F(StdinRelayTest, BringsEveryByteAndTheEnd) {
  ASSERT_TRUE(relay.begin({&h0.agent}).ok());
  readToTheEnd(h0);
  EXPECT_TRUE(h0.got == text()) << h0.got.size() << " bytes";
}

TEST_F(StdinRelayTest, ReadsNoMoreForAHostThatIsLost) {
  ASSERT_TRUE(relay.begin({&h0.agent}).ok());
  fill();
  lose(h0);
  EXPECT_LE(StdinFile::position(), kAheadBytes);
}

TEST_F(StdinRelayTest, GoesOnOnAnotherHostWhereTheInputWas) {
  ASSERT_TRUE(relay.begin({&h0.agent}).ok());
  fill();
  lose(h0);
  ASSERT_TRUE(relay.begin({&h1.agent}).ok());
  readToTheEnd(h1);
  EXPECT_GE(h1.got.size(), text().size() - kAheadBytes);
  EXPECT_TRUE(text().ends_with(h1.got)) << h1.got.size() << " bytes";
}

TEST_F(StdinRelayTest, GoesOnForAllWithoutAHostThatIsLost) {
  ASSERT_TRUE(relay.begin({&h0.agent, &h1.agent}).ok());
  fill();
  lose(h0);
  readToTheEnd(h1);
  EXPECT_TRUE(h1.got == text()) << h1.got.size() << " bytes";
}

// The agent has what the first attempt there did not read, and gives it to the second.
TEST_F(StdinRelayTest, LeavesNothingOutBetweenTwoAttemptsOnAHost) {
  ASSERT_TRUE(relay.begin({&h0.agent}).ok());
  fill();
  ASSERT_TRUE(relay.begin({&h0.agent}).ok());
  readToTheEnd(h0);
  EXPECT_TRUE(h0.got == text()) << h0.got.size() << " bytes";
}

TEST_F(StdinRelayTest, LeavesNothingOutForAllThoughTheyReadAtTheirOwnPace) {
  ASSERT_TRUE(relay.begin({&h0.agent, &h1.agent}).ok());
  fill();
  h1.take();
  fill();
  ASSERT_TRUE(relay.begin({&h0.agent, &h1.agent}).ok());
  testing::runUntil(loop, [&] {
    h0.take();
    h1.take();
    return h0.ended && h1.ended;
  });
  EXPECT_TRUE(h0.got == text()) << h0.got.size() << " bytes";
  EXPECT_TRUE(h1.got == text()) << h1.got.size() << " bytes";
}

TEST_F(StdinRelayTest, GoesOnForAllWithoutAHostWhereNobodyReads) {
  ASSERT_TRUE(relay.begin({&h0.agent, &h1.agent}).ok());
  testing::runUntil(loop, [&] {
    h1.take();
    return h0.agent.inputRoom() == 0;
  });
  fill();
  h1.take();
  fill();
  h1.take();  // it waits for the other
  h0.leaveUnread();
  readToTheEnd(h1);
  EXPECT_TRUE(h1.got == text()) << h1.got.size() << " bytes";
  EXPECT_FALSE(h0.ended);
}

TEST_F(StdinRelayTest, ReadsNoMoreWhenNobodyReadsOnAnyHost) {
  ASSERT_TRUE(relay.begin({&h0.agent, &h1.agent}).ok());
  fill();
  h0.leaveUnread();
  h1.leaveUnread();
  const std::size_t position = StdinFile::position();
  h0.take();
  h1.take();
  fill();
  EXPECT_EQ(StdinFile::position(), position);
}

TEST_F(StdinRelayTest, TakesAHostInAgainInTheNextAttemptWhereTheInputIs) {
  ASSERT_TRUE(relay.begin({&h0.agent, &h1.agent}).ok());
  fill();
  h0.leaveUnread();
  h0.take();
  fill();
  const std::size_t before = h0.got.size();
  ASSERT_TRUE(relay.begin({&h0.agent, &h1.agent}).ok());
  testing::runUntil(loop, [&] {
    h0.take();
    h1.take();
    return h0.ended && h1.ended;
  });
  const std::string again = h0.got.substr(before);
  EXPECT_FALSE(again.empty());
  EXPECT_TRUE(text().ends_with(again)) << again.size() << " bytes";
  EXPECT_TRUE(h1.got == text()) << h1.got.size() << " bytes";
}

// `while read line; do poprun …; done < list` goes on with the next line.
TEST_F(StdinRelayTest, LeavesToOthersWhatAHostThatIsLostMayNotHaveRead) {
  ASSERT_TRUE(relay.begin({&h0.agent}).ok());
  fill();
  lose(h0);
  relay.finish();
  EXPECT_EQ(StdinFile::position(), 0U);
}

TEST_F(StdinRelayTest, ThatCannotBeginEndsForAll) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = sys::Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)).get();
  const rlimit one_pipe{.rlim_cur = static_cast<rlim_t>(next) + 2, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one_pipe), 0);
  const Status begun = relay.begin({&h0.agent, &h1.agent});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(begun.message(), "creating a pipe: Too many open files");
  EXPECT_TRUE(h0.ended);
  EXPECT_TRUE(h1.ended);
}

}  // namespace
}  // namespace pop
