// SPDX-License-Identifier: Apache-2.0
// Readers of poprun's stdin, and how much of it they read.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "tests/testing/poprun_process.h"
#include "tests/testing/terminal.h"
#include "tests/testing/test_child.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// A file with a text, open for reading.
class InputFile {
 public:
  explicit InputFile(const std::string& text) {
    std::string path = ::testing::TempDir() + "stdin-XXXXXX";
    fd_ = sys::Fd(::mkostemp(path.data(), O_CLOEXEC));
    POP_CHECK(::unlink(path.c_str()) == 0 && sys::writeAll(fd_.get(), text).ok());
    POP_CHECK(::lseek(fd_.get(), 0, SEEK_SET) == 0);
  }
  int fd() const { return fd_.get(); }

 private:
  sys::Fd fd_;
};

// A pipe with a text that a thread writes while it is read.
class InputPipe {
 public:
  explicit InputPipe(std::string text) : pipe_(sys::makePipe().value()), text_(std::move(text)) {
    std::signal(SIGPIPE, SIG_IGN);
    writer_ = std::thread([this] {
      static_cast<void>(sys::writeAll(pipe_.write_end.get(), text_));
      pipe_.write_end.reset();
    });
  }
  ~InputPipe() {
    pipe_.read_end.reset();
    writer_.join();
  }
  InputPipe(const InputPipe&) = delete;
  InputPipe& operator=(const InputPipe&) = delete;
  int fd() const { return pipe_.read_end.get(); }

 private:
  sys::Pipe pipe_;
  std::string text_;
  std::thread writer_;
};

std::string flagsOf(int fd) {
  return std::to_string(::fcntl(fd, F_GETFL));
}

TEST(Stdin, GoesToInstance0) {
  const InputPipe input("hello\n");
  const Outcome result = run(
      {.options = {"--num-instances", "3", "sh", "-c", "cat; echo end"}, .descriptors = {{0, input.fd()}}});
  EXPECT_THAT(linesOf(result.out), UnorderedElementsAre("[0] hello", "[0] end", "[1] end", "[2] end"));
}

TEST(Stdin, GoesToTheInstanceThatIsNamed) {
  const InputFile input("hello\n");
  const Outcome result =
      run({.options = {"--num-instances", "3", "--stdin", "2", "cat"}, .descriptors = {{0, input.fd()}}});
  EXPECT_THAT(linesOf(result.out), UnorderedElementsAre("[2] hello"));
}

TEST(Stdin, OfNobodyIsNotTouched) {
  const InputFile input("hello\n");
  const Outcome result =
      run({.options = {"--num-instances", "2", "--stdin", "none", "cat"}, .descriptors = {{0, input.fd()}}});
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(::lseek(input.fd(), 0, SEEK_CUR), 0);
}

// `while read host; do poprun …; done < list` goes on with the second line.
TEST(Stdin, ThatAnInstanceDoesNotReadIsLeftToOthers) {
  const InputFile input("first\nsecond\n");
  const Outcome result =
      run({.options = {"--num-instances", "2", "head", "-c", "6"}, .descriptors = {{0, input.fd()}}});
  EXPECT_EQ(result.out, "[0] first\n");
  EXPECT_EQ(::lseek(input.fd(), 0, SEEK_CUR), 6);
}

TEST(Stdin, OfMegabytesPassesThroughOneInstance) {
  const std::string text = binaryText(3 << 20);
  const InputPipe input(text);
  const Outcome result = run({.options = {"cat"}, .descriptors = {{0, input.fd()}}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out == text) << result.out.size() << " bytes";
}

TEST(StdinForAll, GivesEveryByteToEveryInstance) {
  const std::string text = binaryText(3 << 20);
  for (const char* instance : {"0", "2"}) {
    const InputPipe pipe(text);
    const InputFile file(text);
    const std::string flags = flagsOf(pipe.fd());
    for (const int fd : {pipe.fd(), file.fd()}) {
      const Outcome result = run({.options = {"--num-instances", "3", "--stdin", "all",
                                              "--only-output-from-instance", instance, "cat"},
                                  .descriptors = {{0, fd}}});
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_TRUE(result.out == text) << result.out.size() << " bytes";
    }
    EXPECT_EQ(flagsOf(pipe.fd()), flags) << "it is not ours alone";
  }
}

TEST(StdinForAll, ThatCannotBeReadIsAWarning) {
  const sys::Fd directory(::open("/tmp", O_RDONLY | O_CLOEXEC));
  const Outcome result = run(
      {.options = {"--num-instances", "2", "--stdin", "all", "cat"}, .descriptors = {{0, directory.get()}}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("reading stdin for the instances: Is a directory; "));
}

// Two instances, the first of which runs `first`.
void expectSecondGetsAll(const std::string& first) {
  const std::string text = binaryText(1 << 20);
  const InputPipe input(text);
  const Outcome result =
      run({.options = {"--num-instances", "2", "--stdin=all", "--only-output-from-instance=1", "sh", "-c",
                       "[ $POPDIST_INSTANCE_INDEX = 0 ] || exec cat; " + first},
           .descriptors = {{0, input.fd()}}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out == text) << result.out.size() << " bytes";
}

TEST(StdinForAll, GoesOnWithoutAnInstanceThatReadsNothing) {
  expectSecondGetsAll("exit 0");
}

TEST(StdinForAll, GoesOnWithoutAnInstanceThatEndsAndLeavesItsStdinToAChild) {
  expectSecondGetsAll("exec 3<&0; sleep 600 &");
}

TEST(StdinForAll, TakesNoMoreThanTheSlowestAndABuffer) {
  const InputFile input(binaryText(4 << 20));
  const std::string script =
      "[ $POPDIST_INSTANCE_INDEX = 0 ] && exec sleep 600; head -c 60000 | wc -c; echo read";
  PoprunProcess poprun({.options = {"--num-instances", "2", "--stdin", "all", "sh", "-c", script},
                        .descriptors = {{0, input.fd()}}});
  // Much less than there is.
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.out().find("[1] read") != std::string::npos; }));
  EXPECT_LE(::lseek(input.fd(), 0, SEEK_CUR), 128 << 10);
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
}

TEST(StdinForAll, IsEmptyWhereThereIsNone) {
  const Outcome result = run({.options = {"--num-instances", "2", "--stdin", "all", "sh", "-c", "wc -c"}});
  EXPECT_THAT(linesOf(result.out), UnorderedElementsAre("[0] 0", "[1] 0"));
  EXPECT_EQ(run({.options = {"--num-instances", "2", "--stdin", "all", "cat"}, .closed_fds = {0}}).exit_code,
            0);
}

TEST(StdinAtATerminal, IsReadLineByLine) {
  const std::string script =
      "[ $POPDIST_INSTANCE_INDEX = 0 ] || exit 0; echo ready; read a; echo got $a; cat; echo end";
  Terminal terminal;
  PoprunProcess poprun({.options = {"--num-instances", "2", "sh", "-c", script},
                        .descriptors = {{0, terminal.end()}},
                        .own_session = true});
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.out().find("ready") != std::string::npos; }));
  terminal.type("one\ntwo\n\x04");  // and Ctrl-D
  EXPECT_EQ(poprun.wait(), 0);
  EXPECT_EQ(poprun.out(), "[0] ready\n[0] got one\n[0] two\n[0] end\n");
}

TEST(StdinAtATerminal, IsLeftToTheShellByAProgramThatDoesNotRead) {
  Terminal terminal;
  PoprunProcess poprun({.child = {"wait", "0"}, .descriptors = {{0, terminal.end()}}, .own_session = true});
  const std::vector<pid_t> ready = poprun.waitReady(1);
  ASSERT_EQ(ready.size(), 1U);
  terminal.type("one\n");
  ASSERT_TRUE(poprun.waitFor([&] { return terminal.unread() == 0; })) << "it may be meant for the instance";
  terminal.type("ls\n");
  ASSERT_TRUE(poprun.waitFor([&] { return terminal.unread() == 3; }));
  poprun.waitFor([] { return false; }, Milliseconds(100));
  EXPECT_EQ(terminal.unread(), 3U) << "the next line is not, as long as it has not read the first";
  ::kill(ready[0], SIGUSR1);
  EXPECT_EQ(poprun.wait(), 0);
}

bool shows(Terminal& terminal, const char* text) {
  return waitUntil([&] { return terminal.shown().find(text) != std::string::npos; }, kTimeout);
}

TEST(StdinAtATerminal, IsReadOnlyInTheForeground) {
  Terminal terminal;
  const Shell shell(terminal,
                    std::string("set -m; ") + POP_BIN_DIR +
                        "/poprun sh -c 'echo up; exec cat' & read line; echo shell $line; fg; echo end");
  ASSERT_TRUE(shows(terminal, "up")) << terminal.shown();
  terminal.type("one\n");
  ASSERT_TRUE(shows(terminal, "shell one\n")) << terminal.shown();
  terminal.type("two\n");
  ASSERT_TRUE(shows(terminal, "two\n")) << terminal.shown();
  terminal.type("\x04");
  EXPECT_TRUE(shows(terminal, "end\n")) << terminal.shown();
}

// The system stops it, and it would wait for ever without a word.
TEST(Terminal, OfPoprunIsNotAnInstancesAndOneThatUsesItIsToldOf) {
  Terminal terminal;
  const Shell shell(terminal, "trap : INT; " POP_BIN_DIR
                              "/poprun -np 2 sh -c '[ $RANK = 0 ] || read line </dev/tty'; echo code $?");
  ASSERT_TRUE(shows(terminal, "instance 1 is stopped: it uses the terminal")) << terminal.shown();
  terminal.type("\x03");
  EXPECT_TRUE(shows(terminal, "code 130")) << terminal.shown();
}

}  // namespace
}  // namespace pop::testing
