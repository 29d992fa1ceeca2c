// SPDX-License-Identifier: Apache-2.0
// Messages over real pipes: how streams break, end, and fill up.
#include "common/wire/message_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "proto/popdist/v1/agent.pb.h"
#include "tests/testing/run_until.h"

namespace pop::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::runUntil;
using ::testing::SizeIs;

popdist::v1::Command input(const std::string& text) {
  popdist::v1::Command command;
  command.set_input(text);
  return command;
}

class StreamTest : public ::testing::Test {
 protected:
  StreamTest() {
    std::signal(SIGPIPE, SIG_IGN);
    for (const int fd :
         {down_.read_end.get(), down_.write_end.get(), up_.read_end.get(), up_.write_end.get()})
      EXPECT_TRUE(sys::setNonBlocking(fd).ok());
  }

  MessageStream::Events events() {
    return {.message =
                [this](const std::string& message) {
                  popdist::v1::Command command;
                  EXPECT_TRUE(command.ParseFromString(message));
                  inputs_.push_back(command.input());
                },
            .ended = [this](Status how) { ended_ = std::move(how); }};
  }

  // Reads what comes down.
  std::unique_ptr<MessageStream> reader() {
    return std::make_unique<MessageStream>(loop_, std::move(down_.read_end), std::move(up_.write_end),
                                           events());
  }
  std::unique_ptr<MessageStream> writer() {
    return std::make_unique<MessageStream>(
        loop_, std::move(up_.read_end), std::move(down_.write_end),
        MessageStream::Events{[](const std::string&) {}, [](const Status&) {}});
  }

  os::EpollLoop loop_;
  sys::Pipe down_ = sys::makePipe().value();
  sys::Pipe up_ = sys::makePipe().value();
  std::vector<std::string> inputs_;
  std::optional<Status> ended_;
};

TEST_F(StreamTest, KeepsWhatThePipeDoesNotTakeAtOnce) {
  const auto from = writer();
  const std::string large(5'000'000, 'x');  // several frames, many pipes full
  from->send(input(large));
  from->send(input("last"));
  const auto to = reader();
  runUntil(loop_, [this] { return inputs_.size() == 2; });
  EXPECT_THAT(inputs_, ElementsAre(large, "last"));
}

TEST_F(StreamTest, WritesTheFirstOfATurnAtOnceAndTheOthersTogether) {
  const auto from = writer();
  std::array<char, 4096> bytes{};
  const auto arrived = [&] { return ::read(down_.read_end.get(), bytes.data(), bytes.size()); };
  from->send(input("a"));
  const ssize_t one = arrived();
  EXPECT_GT(one, 0);
  from->send(input("b"));
  from->send(input("c"));
  EXPECT_LT(arrived(), 0) << "in the same turn";
  testing::runIdle(loop_);
  EXPECT_EQ(arrived(), 2 * one);
}

TEST_F(StreamTest, ThatGoesLeavesNothingUnsaid) {
  auto from = writer();
  from->send(input("a"));
  from->send(input("b"));
  from.reset();
  const auto to = reader();
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_THAT(inputs_, ElementsAre("a", "b"));
}

TEST_F(StreamTest, FlushesWithoutTheLoop) {
  const auto from = writer();
  from->send(input("a"));
  from->end({});
  from->flush(std::chrono::seconds(5));
  const auto to = reader();
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_TRUE(ended_->ok()) << ended_->message();
  EXPECT_THAT(inputs_, ElementsAre("a"));
}

TEST_F(StreamTest, DoesNotFlushForLongerThanAsked) {
  const auto from = writer();
  from->send(input(std::string(5'000'000, 'x')));
  const auto start = Clock::now();
  from->flush(std::chrono::milliseconds(50));
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(50));
}

// The bytes in the pipe.
std::size_t bytesIn(const sys::Fd& pipe) {
  int bytes = 0;
  EXPECT_EQ(::ioctl(pipe.get(), FIONREAD, &bytes), 0);
  return static_cast<std::size_t>(bytes);
}

TEST_F(StreamTest, WritesTheFirstMessageOfATurnAtOnceAndTheOthersTogether) {
  const auto from = writer();
  from->send(input("a"));
  const std::size_t one = bytesIn(down_.read_end);
  EXPECT_GT(one, 0U);
  for (const char* const text : {"b", "c"}) from->send(input(text));
  EXPECT_EQ(bytesIn(down_.read_end), one);
  runUntil(loop_, [&] { return bytesIn(down_.read_end) > one; });
  EXPECT_EQ(bytesIn(down_.read_end), 3 * one);
}

TEST_F(StreamTest, ThatGathersWritesAllOfATurnTogether) {
  const auto from = writer();
  from->gather();
  for (const char* const text : {"a", "b"}) from->send(input(text));
  EXPECT_EQ(bytesIn(down_.read_end), 0U);
  EXPECT_FALSE(from->flushed());
  loop_.post([&] { from->send(input("c")); });
  runUntil(loop_, [&] { return bytesIn(down_.read_end) > 0; });
  const auto to = reader();
  from->end({});
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_THAT(inputs_, ElementsAre("a", "b", "c"));
}

TEST_F(StreamTest, SaysHowTheOtherSideHasEndedIt) {
  const auto from = writer();
  const auto to = reader();
  from->end({Code::kFailedPrecondition, "another version"});
  from->send(input("too late"));
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_EQ(*ended_, Status(Code::kFailedPrecondition, "another version"));
  EXPECT_THAT(inputs_, SizeIs(0));
}

TEST_F(StreamTest, ThatStopsInAMessageIsBroken) {
  const auto to = reader();
  ASSERT_EQ(::write(down_.write_end.get(), "\x20\0\0\0\2", 5), 5);
  down_.write_end.reset();
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_EQ(ended_->code(), Code::kUnavailable);
}

TEST_F(StreamTest, EndsAtBytesThatAreNoFrames) {
  const auto to = reader();
  const std::string text = "Welcome to this machine!\n";
  ASSERT_EQ(::write(down_.write_end.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_EQ(ended_->code(), Code::kDataLoss);
}

TEST_F(StreamTest, WritesToNobodyWithoutAFuss) {
  const auto from = writer();
  down_.read_end.reset();
  from->send(input("a"));
  from->send(input("b"));
  from->flush(std::chrono::seconds(5));
}

TEST_F(StreamTest, ReadsNothingWhileItIsPaused) {
  const auto from = writer();
  const auto to = reader();
  to->pause();
  from->send(input("a"));
  from->end({});
  testing::runIdle(loop_);
  EXPECT_TRUE(inputs_.empty());
  EXPECT_FALSE(ended_.has_value());
  to->resume();
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_THAT(inputs_, ElementsAre("a"));
  to->resume();
  to->pause();
  testing::runIdle(loop_);
}

TEST_F(StreamTest, TellsWhenTheOtherSideHasReadWhatWaited) {
  int written = 0;
  MessageStream::Events told = events();
  told.written = [&written] { ++written; };
  MessageStream from(loop_, std::move(up_.read_end), std::move(down_.write_end), std::move(told));
  from.send(input("short"));
  testing::runIdle(loop_);
  EXPECT_EQ(written, 0) << "it did not wait";
  from.send(input("first of a turn"));
  from.send(input("second"));
  EXPECT_GT(from.unsentBytes(), 0U);
  runUntil(loop_, [&] { return written == 1; });
  written = 0;
  from.send(input(std::string(1'000'000, 'a')));
  EXPECT_GT(from.unsentBytes(), 500'000U);
  testing::runIdle(loop_);
  EXPECT_EQ(written, 0);
  const auto to = reader();
  runUntil(loop_, [&] { return written == 1; });
  EXPECT_EQ(from.unsentBytes(), 0U);
}

TEST_F(StreamTest, TakesNoMessageThatIsTooLongForWhatWaitsAlready) {
  MessageStream from(loop_, std::move(up_.read_end), std::move(down_.write_end), events());
  from.setMostUnsent(1 << 20);
  from.send(input(std::string(2'000'000, 'a')));  // nothing waits
  const auto to = reader();
  runUntil(loop_, [&] { return !inputs_.empty(); });
  ASSERT_TRUE(from.flushed());
  from.send(input(std::string(500'000, 'b')));
  from.send(input(std::string(900'000, 'c')));
  from.send(input("d"));
  runUntil(loop_, [&] { return inputs_.size() == 2 && ended_.has_value(); });
  EXPECT_EQ(ended_->code(), Code::kResourceExhausted);
  EXPECT_THAT(ended_->message(), HasSubstr("more than 1 MiB are waiting to be sent"));
  testing::runIdle(loop_);
  EXPECT_EQ(inputs_.size(), 2U) << "and nothing with a part left out";
}

// Sanitizers have allocators of their own, which mallinfo2() does not know.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(StreamTest, KeepsNoMemoryOfWhatIsWritten) {
  const auto in_use = [] {
    const auto all = ::mallinfo2();
    return all.uordblks + all.hblkhd;
  };
  const auto from = writer();
  const auto to = reader();
  const std::size_t before = in_use();
  from->send(input(std::string(32 << 20, 'x')));
  runUntil(loop_, [this] { return !inputs_.empty(); });
  inputs_.clear();
  EXPECT_LT(in_use(), before + (4 << 20));
}
#endif

// Each time that a pipe takes a little, what waits is left where it is.
TEST_F(StreamTest, TakesTimeAsAMessageIsLong) {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);  // else pages are new to the long one alone, and that takes longest
  const auto from = writer();
  const auto to = reader();
  const auto timeOf = [&](std::size_t bytes) {
    std::clock_t least = std::numeric_limits<std::clock_t>::max();
    for (int turn = 0; turn < 3; ++turn) {
      const std::clock_t start = std::clock();
      from->send(input(std::string(bytes, 'x')));
      runUntil(loop_, [this] { return !inputs_.empty(); });
      inputs_.clear();
      least = std::min(least, std::clock() - start);
    }
    return least;
  };
  const std::clock_t once = timeOf(4 << 20);
  EXPECT_LT(timeOf(64 << 20), 64 * once) << "it is 16 times as long";
}

// TLS may have to answer so, by its own rules and without a message.
class AnsweringCipher final : public StreamCipher {
 public:
  Status receive(std::string_view arrived, std::string&, std::string& wire) override {
    wire += arrived;
    return {};
  }
  void send(std::string_view, std::string&) override {}
};

TEST_F(StreamTest, LeavesWhatIsBehindTheFirstMessage) {
  const auto from = writer();
  const std::string large(30'000, 'x');
  for (const std::string& text : {large, std::string("second"), std::string("third")})
    from->send(input(text));
  from->flush(std::chrono::seconds(1));
  for (const std::string& text : {large, std::string("second")}) {
    const Result<std::string> message = readMessage(down_.read_end.get());
    ASSERT_TRUE(message.ok()) << message.status().message();
    popdist::v1::Command command;
    EXPECT_TRUE(command.ParseFromString(message.value()));
    EXPECT_EQ(command.input(), text);
  }
  const auto to = reader();
  runUntil(loop_, [this] { return inputs_.size() == 1; });
  EXPECT_THAT(inputs_, ElementsAre("third"));
}

TEST_F(StreamTest, HasNoFirstMessageWhereItEndsOrIsNone) {
  const std::string bytes(64, 'x');
  EXPECT_TRUE(sys::writeAll(down_.write_end.get(), bytes).ok());
  EXPECT_EQ(readMessage(down_.read_end.get()).code(), Code::kDataLoss);
  down_.write_end.reset();
  while (::read(down_.read_end.get(), inputs_.emplace_back(64, 'x').data(), 64) > 0) {
  }
  EXPECT_EQ(readMessage(down_.read_end.get()).code(), Code::kUnavailable);
}

TEST_F(StreamTest, HasAFirstMessageOfManyPartsWithinALimit) {
  const std::string large(5'000'000, 'x');
  std::thread sender([&] {
    sys::Fd out = std::move(down_.write_end);
    os::EpollLoop loop;
    MessageStream stream(loop, std::move(up_.read_end), std::move(out),
                         {[](const std::string&) {}, [](Status) {}});
    stream.send(large);
    stream.send(large);
    stream.flush(std::chrono::seconds(20));
  });
  EXPECT_TRUE(readMessage(down_.read_end.get()).value() == large);
  EXPECT_EQ(readMessage(down_.read_end.get(), 2'000'000).code(), Code::kResourceExhausted);
  down_.read_end.reset();
  sender.join();
}

TEST_F(StreamTest, EndsWithWhoProvokesAnswersAndReadsNone) {
  MessageStream to(loop_, std::move(down_.read_end), std::move(up_.write_end), events(),
                   std::make_unique<AnsweringCipher>());
  to.setMostUnsent(300'000);
  const std::string noise(4096, 'x');
  std::size_t sent = 0;
  runUntil(loop_, [&] {
    if (!ended_ && ::write(down_.write_end.get(), noise.data(), noise.size()) > 0) sent += noise.size();
    return ended_.has_value() || sent > 10'000'000;
  });
  ASSERT_TRUE(ended_.has_value()) << "it keeps " << sent << " bytes";
  EXPECT_EQ(ended_->code(), Code::kResourceExhausted);
  EXPECT_THAT(ended_->message(), HasSubstr("more than 292 KiB are waiting to be sent"));
}

// Random bytes give messages that parse or not, one end, no crash.
TEST_F(StreamTest, SurvivesRandomBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    sys::Pipe in = sys::makePipe().value();
    sys::Pipe out = sys::makePipe().value();
    EXPECT_TRUE(sys::setNonBlocking(in.read_end.get()).ok());
    EXPECT_TRUE(sys::setNonBlocking(out.write_end.get()).ok());
    std::optional<Status> ended;
    MessageStream to(loop_, std::move(in.read_end), std::move(out.write_end),
                     {[](const std::string& message) { popdist::v1::Command().ParseFromString(message); },
                      [&ended](Status how) {
                        EXPECT_FALSE(ended.has_value());
                        ended = std::move(how);
                      }});
    std::string bytes;
    for (std::size_t left = random() % 200; left > 0; --left)
      bytes += static_cast<char>(random() % 4 == 0 ? random() : random() % 8);
    ASSERT_EQ(::write(in.write_end.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    in.write_end.reset();
    runUntil(loop_, [&ended] { return ended.has_value(); });
  }
}

}  // namespace
}  // namespace pop::wire
