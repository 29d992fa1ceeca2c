// SPDX-License-Identifier: Apache-2.0
// The pump with real pipes and the real loop.
#include "agent/io/output_pump.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "tests/testing/run_until.h"

namespace pop::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::runIdle;
using testing::runUntil;

using Pieces = std::vector<std::string>;

class CollectingSink final : public OutputSink {
 public:
  bool write(int instance, Stream stream, std::string_view text) override {
    pieces[{instance, stream}].emplace_back(text);
    return !full;
  }
  void setOnReady(std::function<void()> ready) override { on_ready = std::move(ready); }

  const Pieces& of(int instance, Stream stream) { return pieces[{instance, stream}]; }
  std::string allOf(int instance, Stream stream) {
    std::string all;
    for (const std::string& piece : of(instance, stream)) all += piece;
    return all;
  }

  std::map<std::pair<int, Stream>, Pieces> pieces;
  bool full = false;
  std::function<void()> on_ready;
};

std::size_t unread(const sys::Fd& pipe) {
  int bytes = 0;
  EXPECT_EQ(::ioctl(pipe.get(), FIONREAD, &bytes), 0);
  return static_cast<std::size_t>(bytes);
}

class OutputPumpTest : public ::testing::Test {
 protected:
  void makePump(OutputPump::Mode mode) {
    pump = std::make_unique<OutputPump>(loop, sink, OutputPump::Modes{mode, mode}, [this](int instance) {
      drained.push_back(instance);
      at_drain = sink.pieces;
    });
  }

  // The end that the instance writes to.
  sys::Fd attach(int instance, Stream stream) {
    sys::Pipe pipe = sys::makePipe().value();
    pump->attach(instance, stream, std::move(pipe.read_end));
    return std::move(pipe.write_end);
  }

  // Writes, and lets the pump read it.
  void writeThrough(const sys::Fd& pipe, std::string_view text) {
    ASSERT_TRUE(sys::writeAll(pipe.get(), text).ok());
    runUntil(loop, [&] { return unread(pipe) == 0; });
  }

  os::EpollLoop loop;
  CollectingSink sink;
  std::vector<int> drained;
  std::map<std::pair<int, Stream>, Pieces> at_drain;  ///< all pieces delivered by the last drain
  std::unique_ptr<OutputPump> pump;
};

TEST_F(OutputPumpTest, InLinesModeAPieceEndsWithALine) {
  makePump(OutputPump::Mode::kLines);
  const sys::Fd out = attach(0, Stream::kStdout);
  writeThrough(out, "hel");
  EXPECT_THAT(sink.of(0, Stream::kStdout), IsEmpty()) << "the line may go on";
  writeThrough(out, "lo\nsecond\nthi");
  writeThrough(out, "rd\n");
  EXPECT_THAT(sink.of(0, Stream::kStdout), ElementsAre("hello\nsecond\n", "third\n"));
}

TEST_F(OutputPumpTest, InLinesModeAnUnfinishedLineComesOutAtTheEnd) {
  makePump(OutputPump::Mode::kLines);
  sys::Fd out = attach(0, Stream::kStdout);
  writeThrough(out, "done\nno newline");
  EXPECT_THAT(sink.of(0, Stream::kStdout), ElementsAre("done\n"));
  out.reset();
  runUntil(loop, [this] { return sink.of(0, Stream::kStdout).size() == 2; });
  EXPECT_EQ(sink.of(0, Stream::kStdout)[1], "no newline");
}

TEST_F(OutputPumpTest, InLinesModeALineWithoutEndIsCutNotHoarded) {
  makePump(OutputPump::Mode::kLines);
  sys::Fd out = attach(0, Stream::kStdout);
  const std::string line(1 << 20, 'x');
  std::thread writer([&out, &line] {
    EXPECT_TRUE(sys::writeAll(out.get(), line + "\nnext\n").ok());
    out.reset();
  });
  runUntil(loop, [&] {
    const Pieces& pieces = sink.of(0, Stream::kStdout);
    return !pieces.empty() && pieces.back().ends_with("next\n");
  });
  writer.join();
  EXPECT_EQ(sink.allOf(0, Stream::kStdout), line + "\nnext\n");
  for (const std::string& piece : sink.of(0, Stream::kStdout)) EXPECT_LE(piece.size(), 2U * (64 << 10));
  EXPECT_GE(sink.of(0, Stream::kStdout).front().size(), 64U << 10) << "cut only when it is too long";
}

TEST_F(OutputPumpTest, InLinesModeEachStateOfAProgressBarIsDelivered) {
  makePump(OutputPump::Mode::kLines);
  const sys::Fd out = attach(0, Stream::kStdout);
  writeThrough(out, "begin\n 10%\r 20%");
  EXPECT_THAT(sink.of(0, Stream::kStdout), ElementsAre("begin\n 10%\r"));
  writeThrough(out, " of all\r");
  EXPECT_EQ(sink.of(0, Stream::kStdout).size(), 1U) << "a newline may follow";
  writeThrough(out, " 30%");
  EXPECT_EQ(sink.of(0, Stream::kStdout).back(), " 20% of all\r");
  writeThrough(out, "\r");
  writeThrough(out, "\nend\r\n");
  EXPECT_EQ(sink.of(0, Stream::kStdout).back(), " 30%\r\nend\r\n");
}

TEST_F(OutputPumpTest, TheStreamsMayHaveModesOfTheirOwn) {
  pump = std::make_unique<OutputPump>(
      loop, sink, OutputPump::Modes{OutputPump::Mode::kRaw, OutputPump::Mode::kLines}, [](int) {});
  const sys::Fd out = attach(0, Stream::kStdout);
  const sys::Fd err = attach(0, Stream::kStderr);
  writeThrough(out, "no newline");
  writeThrough(err, "no newline");
  EXPECT_THAT(sink.of(0, Stream::kStdout), ElementsAre("no newline"));
  EXPECT_THAT(sink.of(0, Stream::kStderr), IsEmpty());
}

TEST_F(OutputPumpTest, InRawModeBytesComeAsTheyAre) {
  makePump(OutputPump::Mode::kRaw);
  const sys::Fd out = attach(0, Stream::kStdout);
  writeThrough(out, "50%\r");
  EXPECT_THAT(sink.of(0, Stream::kStdout), ElementsAre("50%\r")) << "at once: it may be a progress bar";
  writeThrough(out, std::string_view("\0\xff\n\0", 4));
  EXPECT_EQ(sink.allOf(0, Stream::kStdout), std::string("50%\r\0\xff\n\0", 8));
}

TEST_F(OutputPumpTest, KeepsInstancesAndStreamsApart) {
  makePump(OutputPump::Mode::kLines);
  const sys::Fd first = attach(0, Stream::kStdout);
  const sys::Fd second = attach(1, Stream::kStdout);
  const sys::Fd error = attach(1, Stream::kStderr);
  writeThrough(first, "fi");
  writeThrough(second, "sec");
  writeThrough(error, "oops\n");
  writeThrough(first, "rst\n");
  writeThrough(second, "ond\n");
  EXPECT_THAT(sink.of(0, Stream::kStdout), ElementsAre("first\n"));
  EXPECT_THAT(sink.of(1, Stream::kStdout), ElementsAre("second\n"));
  EXPECT_THAT(sink.of(1, Stream::kStderr), ElementsAre("oops\n"));
}

TEST_F(OutputPumpTest, DrainDeliversWhatIsInThePipeWithoutTheLoop) {
  makePump(OutputPump::Mode::kLines);
  sys::Fd out = attach(3, Stream::kStdout);
  ASSERT_TRUE(sys::writeAll(out.get(), "last words\n").ok());
  out.reset();
  pump->drain(3);
  EXPECT_THAT(drained, ElementsAre(3));
  EXPECT_THAT(at_drain, ElementsAre(Pair(Pair(3, Stream::kStdout), ElementsAre("last words\n"))));
}

TEST_F(OutputPumpTest, DrainDoesNotWaitForAGrandchildThatHoldsThePipe) {
  makePump(OutputPump::Mode::kLines);
  const sys::Fd out = attach(0, Stream::kStdout);
  const sys::Fd err = attach(0, Stream::kStderr);
  ASSERT_TRUE(sys::writeAll(out.get(), "line\nunfinished").ok());
  pump->drain(0);
  EXPECT_THAT(drained, ElementsAre(0));
  EXPECT_THAT(at_drain, ElementsAre(Pair(Pair(0, Stream::kStdout), ElementsAre("line\n", "unfinished"))));
  writeThrough(out, "grandchild\n");
  EXPECT_EQ(sink.of(0, Stream::kStdout).back(), "grandchild\n") << "it is still heard";
  EXPECT_THAT(drained, ElementsAre(0)) << "but it does not report the drain again";
}

TEST_F(OutputPumpTest, DrainIsReportedAfterBothStreamsAreDelivered) {
  makePump(OutputPump::Mode::kLines);
  const sys::Fd out = attach(0, Stream::kStdout);
  const sys::Fd err = attach(0, Stream::kStderr);
  ASSERT_TRUE(sys::writeAll(out.get(), "result\n").ok());
  ASSERT_TRUE(sys::writeAll(err.get(), "why it failed").ok());
  pump->drain(0);
  EXPECT_THAT(drained, ElementsAre(0));
  EXPECT_THAT(at_drain, ElementsAre(Pair(Pair(0, Stream::kStdout), ElementsAre("result\n")),
                                    Pair(Pair(0, Stream::kStderr), ElementsAre("why it failed"))));
}

TEST_F(OutputPumpTest, DrainOfASilentStdoutStillWaitsForStderr) {
  makePump(OutputPump::Mode::kLines);
  sys::Fd out = attach(0, Stream::kStdout);
  sys::Fd err = attach(0, Stream::kStderr);
  ASSERT_TRUE(sys::writeAll(err.get(), "why it failed\n").ok());
  out.reset();
  err.reset();
  pump->drain(0);
  EXPECT_THAT(drained, ElementsAre(0));
  EXPECT_THAT(at_drain, ElementsAre(Pair(Pair(0, Stream::kStderr), ElementsAre("why it failed\n"))));
}

TEST_F(OutputPumpTest, DrainOfPipesThatHaveEndedIsReportedAtOnce) {
  makePump(OutputPump::Mode::kLines);
  attach(0, Stream::kStdout).reset();
  const sys::Fd other = attach(1, Stream::kStdout);
  runIdle(loop);
  EXPECT_THAT(drained, IsEmpty()) << "the end of a pipe is not the end of its instance";
  pump->drain(0);
  EXPECT_THAT(drained, ElementsAre(0));
}

TEST_F(OutputPumpTest, DrainOfMoreThanABufferDeliversAllOfIt) {
  makePump(OutputPump::Mode::kRaw);
  const sys::Fd out = attach(0, Stream::kStdout);
  ASSERT_EQ(::fcntl(out.get(), F_SETPIPE_SZ, 512 << 10), 512 << 10);
  const std::string text(400'000, 'y');
  ASSERT_TRUE(sys::writeAll(out.get(), text).ok());
  pump->drain(0);
  EXPECT_THAT(drained, ElementsAre(0));
  EXPECT_EQ(sink.allOf(0, Stream::kStdout), text);
}

TEST_F(OutputPumpTest, AFullSinkIsGivenNothingUntilItIsReady) {
  makePump(OutputPump::Mode::kLines);
  const sys::Fd first = attach(0, Stream::kStdout);
  const sys::Fd second = attach(1, Stream::kStdout);
  sink.full = true;
  writeThrough(first, "fills it\n");
  ASSERT_TRUE(sys::writeAll(first.get(), "waits\n").ok());
  ASSERT_TRUE(sys::writeAll(second.get(), "waits too\n").ok());
  const sys::Fd third = attach(2, Stream::kStdout);
  ASSERT_TRUE(sys::writeAll(third.get(), "came late\n").ok());
  runIdle(loop);
  EXPECT_EQ(unread(first), 6U);
  EXPECT_EQ(unread(second), 10U);
  EXPECT_EQ(unread(third), 10U);
  sink.full = false;
  sink.on_ready();
  runUntil(loop, [&] { return unread(first) + unread(second) + unread(third) == 0; });
  EXPECT_EQ(sink.allOf(0, Stream::kStdout), "fills it\nwaits\n");
  EXPECT_EQ(sink.allOf(1, Stream::kStdout), "waits too\n");
  EXPECT_EQ(sink.allOf(2, Stream::kStdout), "came late\n");
}

TEST_F(OutputPumpTest, ADrainWaitsForAFullSink) {
  makePump(OutputPump::Mode::kLines);
  sys::Fd out = attach(0, Stream::kStdout);
  const sys::Fd err = attach(0, Stream::kStderr);
  sink.full = true;
  writeThrough(out, "fills it\n");
  ASSERT_TRUE(sys::writeAll(out.get(), "last words").ok());
  out.reset();
  ASSERT_TRUE(sys::writeAll(err.get(), "reasons").ok());
  pump->drain(0);
  runIdle(loop);
  EXPECT_THAT(drained, IsEmpty());
  sink.full = false;
  sink.on_ready();
  runUntil(loop, [this] { return !drained.empty(); });
  EXPECT_EQ(sink.allOf(0, Stream::kStdout), "fills it\nlast words");
  EXPECT_EQ(sink.allOf(0, Stream::kStderr), "reasons");
}

TEST_F(OutputPumpTest, NothingIsLostUnderBackpressure) {
  makePump(OutputPump::Mode::kRaw);
  sys::Fd out = attach(0, Stream::kStdout);
  SplitMix64 random(1);
  std::string text(1 << 20, '\0');
  for (char& c : text) c = static_cast<char>(random.next());
  std::thread writer([&out, &text] {
    EXPECT_TRUE(sys::writeAll(out.get(), text).ok());
    out.reset();
  });
  sink.full = true;  // after every single piece
  std::size_t pieces = 0;
  std::size_t bytes = 0;
  runUntil(loop, [&] {
    const Pieces& so_far = sink.of(0, Stream::kStdout);
    if (so_far.size() > pieces) {
      EXPECT_EQ(so_far.size(), ++pieces) << "one piece for each time it was ready";
      bytes += so_far.back().size();
      sink.on_ready();
    }
    return bytes >= text.size();
  });
  writer.join();
  EXPECT_TRUE(sink.allOf(0, Stream::kStdout) == text);
}

TEST_F(OutputPumpTest, CanGoWhilePipesAreOpen) {
  makePump(OutputPump::Mode::kLines);
  const sys::Fd out = attach(0, Stream::kStdout);
  ASSERT_TRUE(sys::writeAll(out.get(), "nobody hears this\n").ok());
  pump.reset();
  runIdle(loop);
  EXPECT_THAT(sink.of(0, Stream::kStdout), IsEmpty());
  EXPECT_FALSE(sink.on_ready) << "the sink must not call what is gone";
}

}  // namespace
}  // namespace pop::agent
