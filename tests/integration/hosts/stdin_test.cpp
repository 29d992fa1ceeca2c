// SPDX-License-Identifier: Apache-2.0
// poprun's stdin, as the instances of a job over several hosts read it.
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/integration/hosts/hosts_fixture.h"

namespace pop::testing {
namespace {

class StdinOnHosts : public HostsTest {};

TEST_F(StdinOnHosts, GivesStdinToTheInstanceThatIsNamed) {
  for (const char* instance : {"0", "2"}) {
    PoprunSetup setup = job({"-n", "3", "--stdin", instance, "--tag-output", "instance", "cat"});
    sys::Pipe pipe = sys::makePipe().value();
    setup.descriptors[0] = pipe.read_end.get();
    PoprunProcess poprun(setup);
    pipe.read_end.reset();
    ASSERT_TRUE(sys::writeAll(pipe.write_end.get(), "hello\nworld\n").ok());
    pipe.write_end.reset();
    EXPECT_EQ(poprun.wait(), 0) << poprun.err();
    const std::string tag = "[" + std::string(instance) + "] ";
    EXPECT_EQ(poprun.out(), tag + "hello\n" + tag + "world\n");
  }
}

TEST_F(StdinOnHosts, GivesStdinToAll) {
  PoprunSetup setup = job({"-n", "3", "--stdin", "all", "--tag-output", "no", "sh", "-c", "cat | wc -c"});
  sys::Pipe pipe = sys::makePipe().value();
  setup.descriptors[0] = pipe.read_end.get();
  PoprunProcess poprun(setup);
  pipe.read_end.reset();
  const std::string text(1'000'000, 'x');
  ASSERT_TRUE(sys::writeAll(pipe.write_end.get(), text).ok());
  pipe.write_end.reset();
  EXPECT_EQ(poprun.wait(), 0) << poprun.err();
  EXPECT_EQ(poprun.out(), "1000000\n1000000\n1000000\n");
}

// The same as on one host. Much more than can be on its way to a host that does not read.
TEST_F(StdinOnHosts, GivesStdinToAllThatReadIt) {
  const TempDir directory;
  const std::string list = directory.path() + "/list";
  std::ofstream(list) << std::string(1'000'000, 'x');
  const std::string its_turn = hosts.tmp(0) + "/turn";
  ASSERT_EQ(::mkfifo(its_turn.c_str(), 0600), 0);
  const sys::Fd turn(::open(its_turn.c_str(), O_RDWR | O_CLOEXEC));
  for (const char* instance0 : {"exec <&- && read line </tmp/turn && exit 0", "exit 0"}) {
    const sys::Fd file = sys::openFile(list).value();
    PoprunSetup setup = job({"-n", "3", "--stdin", "all", "--tag-output", "no", "sh", "-c",
                             "[ $RANK != 0 ] || { " + std::string(instance0) + "; }; cat | wc -c"});
    setup.descriptors[0] = file.get();
    PoprunProcess poprun(setup);
    ASSERT_TRUE(poprun.waitFor([&] { return poprun.out() == "1000000\n1000000\n"; }))
        << instance0 << ": " << poprun.out() << poprun.err();
    ASSERT_TRUE(sys::writeAll(turn.get(), "\n").ok());
    EXPECT_EQ(poprun.wait(), 0) << poprun.err();
  }
}

// `while read line; do poprun …; done < list` goes on with the next line.
TEST_F(StdinOnHosts, LeavesOfAFileWhatNoInstanceReads) {
  const TempDir directory;
  const std::string list = directory.path() + "/list";
  std::ofstream(list) << "first\nsecond\n" << std::string(1'000'000, 'x');
  const sys::Fd file = sys::openFile(list).value();
  const auto leaves = [&](const std::string& script) {
    PoprunSetup setup = job({"-n", "3", "--stdin", "1", "sh", "-c", "[ $RANK != 1 ] || " + script});
    setup.descriptors[0] = file.get();
    const Outcome outcome = run(setup);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return ::lseek(file.get(), 0, SEEK_CUR);
  };
  EXPECT_EQ(leaves("true"), 0);
  EXPECT_EQ(leaves("read line"), 6);
  EXPECT_EQ(leaves("head -c 500007 >/dev/null"), 500013);
  EXPECT_EQ(leaves("cat >/dev/null"), 1'000'013);
}

TEST_F(StdinOnHosts, LeavesNothingOutOfStdinWhenItStartsAgain) {
  const std::string text = numberedLines(1'000'000);
  const TempDir directory;
  std::ofstream(directory.path() + "/input") << text;
  const sys::Fd file = sys::openFile(directory.path() + "/input").value();
  PoprunSetup setup = job({"-n", "3", "--stdin", "1", "--tag-output", "no", "--max-restarts", "1", "sh", "-c",
                           "[ $RANK = 1 ] || exit 0; [ $POPDIST_RESTART_COUNT = 0 ] || exec cat; "
                           "head -c 100000 >/dev/null; exit 3"});
  setup.descriptors[0] = file.get();
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out == text.substr(100000)) << outcome.out.size() << " bytes";
}

// But for what the instance that failed had in its pipe.
TEST_F(StdinOnHosts, LeavesNothingElseOutOfStdinForAllWhenItStartsAgain) {
  const std::string text = numberedLines(1'000'000);
  const TempDir directory;
  std::ofstream(directory.path() + "/input") << text;
  const sys::Fd file = sys::openFile(directory.path() + "/input").value();
  PoprunSetup setup =
      job({"-n", "3", "--stdin", "all", "--tag-output", "no", "--max-restarts", "1", "--restart-delay", "0.5",
           "sh", "-c",
           "[ $RANK = 1 ] || exec cat >/dev/null; [ $POPDIST_RESTART_COUNT = 0 ] || exec cat; "
           "head -c 100000 >/dev/null; exit 3"});
  setup.descriptors[0] = file.get();
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(text.ends_with(outcome.out)) << outcome.out.size() << " bytes";
  EXPECT_GE(outcome.out.size(), text.size() - 100000 - (64 << 10));
}

}  // namespace
}  // namespace pop::testing
