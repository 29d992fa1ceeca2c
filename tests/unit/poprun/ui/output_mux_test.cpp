// SPDX-License-Identifier: Apache-2.0
// The instances' output as it leaves poprun. The mux writes to descriptors 1 and 2; here pipes stand in for
// them.
#include "poprun/ui/output_mux.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/testing/run_until.h"

namespace pop {
namespace {

// Stands in for stdout and stderr until restore(). No assertion can print in between.
class StdioPipes {
 public:
  StdioPipes() {
    std::fflush(stdout);
    std::fflush(stderr);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      saved_.at(index(fd)) = sys::Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
      sys::Pipe pipe = sys::makePipe().value();
      ::dup2(pipe.write_end.get(), fd);
      readers_.at(index(fd)) = std::move(pipe.read_end);
      static_cast<void>(sys::setNonBlocking(reader(fd).get()));
    }
  }
  ~StdioPipes() { restore(); }
  StdioPipes(const StdioPipes&) = delete;
  StdioPipes& operator=(const StdioPipes&) = delete;

  void restore() {
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      if (saved_.at(index(fd)).valid()) ::dup2(saved_.at(index(fd)).get(), fd);
      saved_.at(index(fd)).reset();
    }
  }

  sys::Fd& reader(int fd) { return readers_.at(index(fd)); }

  std::string read(int fd) {
    std::string text;
    std::array<char, 65536> chunk{};
    while (true) {
      const ssize_t got = ::read(reader(fd).get(), chunk.data(), chunk.size());
      if (got <= 0) return text;
      text.append(chunk.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  static std::size_t index(int fd) { return static_cast<std::size_t>(fd - 1); }
  std::array<sys::Fd, 2> saved_;
  std::array<sys::Fd, 2> readers_;
};

struct Written {
  std::string out;
  std::string err;
};

// poprun's output when `body` uses a mux with these settings.
Written written(const OutputSettings& settings, const std::function<void(OutputMux&)>& body) {
  os::EpollLoop loop;
  StdioPipes pipes;
  OutputMux mux(loop, settings, [](const WriteFailure&) {});
  body(mux);
  mux.finish("");
  mux.flush();
  pipes.restore();
  return {pipes.read(STDOUT_FILENO), pipes.read(STDERR_FILENO)};
}

OutputSettings bothStreams(const StreamSettings& stream) {
  return {.out = stream, .err = stream, .num_instances = 20};
}

const OutputSettings kTagged = bothStreams({.tag = TagOutput::kInstance, .whole_lines = true});
const OutputSettings kWholeLines = bothStreams({.whole_lines = true});
const OutputSettings kRaw = bothStreams({});

TEST(OutputMux, TagsEachLine) {
  const Written text = written(kTagged, [](OutputMux& mux) {
    mux.write(3, Stream::kStdout, "one\ntwo\n\n");
    mux.write(12, Stream::kStdout, "three\n");
  });
  EXPECT_EQ(text.out, "[3] one\n[3] two\n[3] \n[12] three\n");
  EXPECT_EQ(text.err, "");
}

TEST(OutputMux, KeepsTheStreamsApart) {
  const Written text = written(kTagged, [](OutputMux& mux) {
    mux.write(0, Stream::kStderr, "oops\n");
    mux.write(0, Stream::kStdout, "fine\n");
  });
  EXPECT_EQ(text.out, "[0] fine\n");
  EXPECT_EQ(text.err, "[0] oops\n");
}

TEST(OutputMux, EndsAnUnfinishedLineBeforeTheNextInstanceWrites) {
  const auto body = [](OutputMux& mux) {
    mux.write(0, Stream::kStdout, "no newline");
    mux.write(1, Stream::kStdout, "next\nand this");
  };
  EXPECT_EQ(written(kTagged, body).out, "[0] no newline\n[1] next\n[1] and this\n");
  EXPECT_EQ(written(kWholeLines, body).out, "no newline\nnext\nand this\n");
}

TEST(OutputMux, LeavesBytesAloneWhenNothingElseIsAsked) {
  const std::string bytes("50%\r\0\xff no newline", 17);
  EXPECT_EQ(written(kRaw, [&bytes](OutputMux& mux) { mux.write(0, Stream::kStdout, bytes); }).out, bytes);
}

TEST(OutputMux, DropsTheOutputOfAllOthers) {
  bool more_wanted = false;
  const Written text = written(bothStreams({.only_instance = 1}), [&more_wanted](OutputMux& mux) {
    more_wanted = mux.write(0, Stream::kStdout, "dropped\n") && mux.write(2, Stream::kStderr, "dropped\n");
    mux.write(1, Stream::kStdout, "kept\n");
    mux.write(1, Stream::kStderr, "kept too\n");
  });
  EXPECT_EQ(text.out, "kept\n");
  EXPECT_EQ(text.err, "kept too\n");
  EXPECT_TRUE(more_wanted) << "who is not heard is not held up";
}

TEST(OutputMux, PrintsTheLaunchersOwnTextAsItIs) {
  const Written text =
      written(bothStreams({.tag = TagOutput::kInstance, .whole_lines = true, .only_instance = 5}),
              [](OutputMux& mux) { mux.print(" table\nwithout tags"); });
  EXPECT_EQ(text.out, " table\nwithout tags");
}

TEST(OutputMux, DropsOnlyTheStreamThatOneInstanceHasAlone) {
  OutputSettings settings = bothStreams({.whole_lines = true});
  settings.out = {.only_instance = 1};
  const Written text = written(settings, [](OutputMux& mux) {
    mux.write(0, Stream::kStdout, "dropped\n");
    mux.write(0, Stream::kStderr, "heard\n");
    mux.write(1, Stream::kStdout, "kept");
  });
  EXPECT_EQ(text.out, "kept");
  EXPECT_EQ(text.err, "heard\n");
}

TEST(OutputMux, SpeaksOnALineOfItsOwn) {
  const auto body = [](OutputMux& mux) {
    mux.write(0, Stream::kStderr, "50%");
    mux.say("poprun: warning\n");
    mux.write(0, Stream::kStderr, " 60%");
    mux.finish("poprun: the end\n");
  };
  EXPECT_EQ(written(kRaw, body).err, "50%\npoprun: warning\n 60%\npoprun: the end\n");
}

TEST(OutputMux, FoldsWhatAllInstancesSay) {
  OutputSettings settings = bothStreams({.tag = TagOutput::kInstance, .whole_lines = true, .fold = true});
  settings.num_instances = 3;
  const Written text = written(settings, [](OutputMux& mux) {
    for (const int instance : {2, 0, 1}) mux.write(instance, Stream::kStdout, "epoch 1\n");
    mux.write(1, Stream::kStdout, "mine\n");
    mux.write(0, Stream::kStderr, "oops\n");
  });
  EXPECT_EQ(text.out, "[0-2] epoch 1\n[1] mine\n");
  EXPECT_EQ(text.err, "[0] oops\n");
}

TEST(OutputMux, KeepsTheLastErrorsOfAnInstanceThatIsNotShown) {
  std::vector<std::string> last;
  written(bothStreams({.only_instance = 1}), [&last](OutputMux& mux) {
    mux.write(0, Stream::kStderr, "Traceback\nKeyError: 'x'\n");
    last = mux.lastErrors(0);
  });
  EXPECT_EQ(last, (std::vector<std::string>{"Traceback", "KeyError: 'x'"}));
}

TEST(OutputMux, AbandonedItStillHasLastWords) {
  const Written text = written(kRaw, [](OutputMux& mux) {
    mux.abandon();
    mux.finish("poprun: the end\n");
  });
  EXPECT_EQ(text.err, "\npoprun: the end\n");
}

TEST(OutputMux, ASlowReaderHoldsTheInstancesUpAndLosesNothing) {
  constexpr int kPieces = 40;
  const std::string piece(65536, 'x');
  os::EpollLoop loop;
  StdioPipes pipes;
  OutputMux mux(loop, kRaw, [](const WriteFailure&) {});
  int ready = 0;
  mux.setOnReady([&ready] { ++ready; });
  int full_at = 0;
  for (int count = 1; count <= kPieces; ++count) {
    if (!mux.write(0, Stream::kStdout, piece) && full_at == 0) full_at = count;
  }
  const int ready_before = ready;
  std::size_t got = 0;
  testing::runUntil(loop, [&] {
    got += pipes.read(STDOUT_FILENO).size();
    return ready > 0;
  });
  const bool wants_more = mux.write(0, Stream::kStdout, "the end");
  mux.flush();
  pipes.restore();
  const std::string rest = pipes.read(STDOUT_FILENO);
  EXPECT_GT(full_at, 16) << "a megabyte may wait";
  EXPECT_LT(full_at, kPieces) << "but not everything";
  EXPECT_EQ(ready_before, 0);
  EXPECT_EQ(ready, 1);
  EXPECT_TRUE(wants_more);
  EXPECT_EQ(got + rest.size(), kPieces * piece.size() + 7);
  EXPECT_TRUE(rest.ends_with("the end"));
}

TEST(OutputMux, AFullStdoutHoldsStderrUpAsWell) {
  os::EpollLoop loop;
  StdioPipes pipes;
  OutputMux mux(loop, kRaw, [](const WriteFailure&) {});
  const bool out_wanted = mux.write(0, Stream::kStdout, std::string(2 << 20, 'x'));
  const bool err_wanted = mux.write(0, Stream::kStderr, "oops\n");
  const std::string err = pipes.read(STDERR_FILENO);
  mux.abandon();
  pipes.restore();
  EXPECT_FALSE(out_wanted);
  EXPECT_FALSE(err_wanted) << "the pump pauses as a whole, and must not be told to go on";
  EXPECT_EQ(err, "oops\n") << "what it was given is written all the same";
}

TEST(OutputMux, TheLastLinesDoNotWaitForTheReaderOfStdout) {
  std::signal(SIGPIPE, SIG_IGN);
  os::EpollLoop loop;
  StdioPipes pipes;
  OutputMux mux(loop, kRaw, [](const WriteFailure&) {});
  for (const Stream stream : {Stream::kStdout, Stream::kStderr})
    mux.write(0, stream, std::string(2 << 20, 'x'));
  mux.finish("poprun: the end\n");
  std::string err;
  std::thread reader([&pipes, &err] {
    pollfd readable{pipes.reader(STDERR_FILENO).get(), POLLIN, 0};
    while (!err.ends_with("\npoprun: the end\n") && ::poll(&readable, 1, 10'000) == 1)
      err += pipes.read(STDERR_FILENO);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) pipes.reader(fd).reset();
  });
  mux.flush();
  reader.join();
  pipes.restore();
  EXPECT_TRUE(err.ends_with("\npoprun: the end\n"));
}

TEST(OutputMux, ReportsOnceThatAReaderHasGone) {
  std::signal(SIGPIPE, SIG_IGN);
  os::EpollLoop loop;
  StdioPipes pipes;
  std::vector<int> errors;
  OutputMux mux(loop, kWholeLines,
                [&errors](const WriteFailure& failure) { errors.push_back(failure.error); });
  pipes.reader(STDOUT_FILENO).reset();
  pipes.reader(STDERR_FILENO).reset();
  const bool more = mux.write(0, Stream::kStdout, "a\n") && mux.write(0, Stream::kStderr, "b\n") &&
                    mux.write(1, Stream::kStdout, "c\n");
  mux.flush();
  pipes.restore();
  EXPECT_EQ(errors, std::vector<int>{EPIPE});
  EXPECT_TRUE(more) << "the instances are being stopped: they must be able to write their last";
}

TEST(OutputMux, ReportsAFullDiskAsWhatItIs) {
  os::EpollLoop loop;
  StdioPipes pipes;
  const sys::Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ::dup2(full.get(), STDOUT_FILENO);
  std::vector<int> errors;
  OutputMux mux(loop, kWholeLines,
                [&errors](const WriteFailure& failure) { errors.push_back(failure.error); });
  mux.write(0, Stream::kStdout, "a\n");
  mux.write(0, Stream::kStderr, "still heard\n");
  pipes.restore();
  EXPECT_EQ(errors, std::vector<int>{ENOSPC});
  EXPECT_EQ(pipes.read(STDERR_FILENO), "still heard\n");
}

TEST(OutputMux, KeepsTheOrderOfTheStreamsWhenTheyShareAFile) {
  os::EpollLoop loop;
  StdioPipes pipes;
  ::dup2(STDOUT_FILENO, STDERR_FILENO);  // 2>&1
  OutputMux mux(loop, kWholeLines, [](const WriteFailure&) {});
  const std::string fills_the_pipe(200'000, 'x');
  mux.write(0, Stream::kStdout, fills_the_pipe);
  mux.write(0, Stream::kStderr, "oops\n");
  mux.write(0, Stream::kStdout, "after it\n");
  const std::string expected = fills_the_pipe + "\noops\nafter it\n";
  std::string got;
  testing::runUntil(loop, [&] {
    got += pipes.read(STDOUT_FILENO);
    return got.size() >= expected.size();
  });
  pipes.restore();
  EXPECT_TRUE(got == expected);
}

TEST(OutputMux, AReaderThatGoesWhileMuchWaitsHoldsNobodyUp) {
  std::signal(SIGPIPE, SIG_IGN);
  os::EpollLoop loop;
  StdioPipes pipes;
  int ready = 0;
  OutputMux mux(loop, kRaw, [](const WriteFailure&) {});
  mux.setOnReady([&ready] { ++ready; });
  const bool wanted = mux.write(0, Stream::kStdout, std::string(2 << 20, 'x'));
  pipes.reader(STDOUT_FILENO).reset();
  testing::runUntil(loop, [&ready] { return ready > 0; });
  pipes.restore();
  EXPECT_FALSE(wanted);
  EXPECT_EQ(ready, 1);
}

TEST(OutputMux, AbandonedItTakesEverythingAndWritesNothing) {
  os::EpollLoop loop;
  StdioPipes pipes;
  int ready = 0;
  OutputMux mux(loop, kRaw, [](const WriteFailure&) {});
  mux.setOnReady([&ready] { ++ready; });
  mux.write(0, Stream::kStdout, std::string(2 << 20, 'x'));
  mux.abandon();
  const bool wanted = mux.write(0, Stream::kStdout, std::string(2 << 20, 'y'));
  mux.flush();
  pipes.restore();
  EXPECT_EQ(ready, 1) << "the instances go on";
  EXPECT_TRUE(wanted);
  EXPECT_EQ(pipes.read(STDOUT_FILENO).find('y'), std::string::npos);
}

}  // namespace
}  // namespace pop
