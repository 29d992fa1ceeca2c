// SPDX-License-Identifier: Apache-2.0
// The forms that output can take: tags, times, folding, streams of one instance only.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <csignal>
#include <map>

#include "common/sys/fd.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/process_tree.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_child.h"

namespace pop::testing {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

Outcome runEcho(Arguments options) {
  const Arguments echo{"sh", "-c", "echo out $POPDIST_INSTANCE_INDEX; echo err >&2"};
  options.insert(options.end(), echo.begin(), echo.end());
  return run({.options = std::move(options)});
}

TEST(TagOutput, CanBeOpenMpis) {
  const Outcome result = runEcho({"--num-instances", "2", "--tag-output", "mpi"});
  EXPECT_THAT(linesOf(result.out), UnorderedElementsAre("[1,0]<stdout>:out 0", "[1,1]<stdout>:out 1"));
  EXPECT_THAT(linesOf(result.err), UnorderedElementsAre("[1,0]<stderr>:err", "[1,1]<stderr>:err"));
}

TEST(TagOutput, CanNameTheHost) {
  EXPECT_THAT(linesOf(runEcho({"--num-instances", "2", "--tag-output", "host"}).out),
              UnorderedElementsAre("localhost:0: out 0", "localhost:1: out 1"));
}

TEST(TimestampOutput, PutsTheTimeBeforeEachTag) {
  const Outcome result = runEcho({"--num-instances", "2", "--timestamp-output"});
  const std::string time = "[0-9]+-[0-9][0-9]-[0-9][0-9]T[0-9:]+\\.[0-9][0-9][0-9][+-][0-9][0-9]:[0-9][0-9] ";
  EXPECT_THAT(linesOf(result.out), SizeIs(2));
  EXPECT_THAT(linesOf(result.out), Each(MatchesRegex(time + "\\[[01]\\] out [01]")));
  EXPECT_THAT(linesOf(result.err), Each(MatchesRegex(time + "\\[[01]\\] err")));
}

TEST(OnlyStdoutFromInstance, LeavesTheErrorsOfAll) {
  const Outcome result = runEcho({"--num-instances", "3", "--only-stdout-from-instance", "1"});
  EXPECT_EQ(result.out, "out 1\n");
  EXPECT_THAT(linesOf(result.err), UnorderedElementsAre("[0] err", "[1] err", "[2] err"));
}

// The output of each instance, from lines whose tags name several: "[0-2,5] text".
std::map<int, Arguments> saidByEach(const std::string& out) {
  std::map<int, Arguments> said;
  for (const std::string& line : linesOf(out)) {
    const std::string who = line.substr(1, line.find(']') - 1);
    int from = -1;
    for (std::size_t at = 0; at < who.size(); ++at) {
      if (!std::isdigit(who[at])) continue;
      const int instance = who[at] - '0';
      for (int each = at > 0 && who[at - 1] == '-' ? from + 1 : instance; each <= instance; ++each)
        said[each].push_back(line.substr(line.find(' ') + 1));
      from = instance;
    }
  }
  return said;
}

// They speak when all of them are there.
std::string outputOfEightThatHaveMet() {
  const TempDir directory;
  const std::string fifo = directory.path() + "/go";
  EXPECT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const sys::Fd go(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
  PoprunProcess poprun(
      {.options = {"--num-instances", "8", "--fold-output", "sh", "-c",
                   ": >" + directory.path() + "/$POPDIST_INSTANCE_INDEX; read go <" + fifo +
                       "; echo start; [ $POPDIST_INSTANCE_INDEX != 3 ] || echo me; echo end"}});
  const auto is_there = [&](int instance) {
    return ::access((directory.path() + '/' + std::to_string(instance)).c_str(), F_OK) == 0;
  };
  for (int instance = 0; instance < 8; ++instance)
    EXPECT_TRUE(waitUntil([&] { return is_there(instance); }, kTimeout));
  EXPECT_EQ(::write(go.get(), "\n\n\n\n\n\n\n\n", 8),
            8);  // a line for each, which a shell reads byte by byte
  EXPECT_EQ(poprun.wait(), 0);
  return poprun.out();
}

TEST(FoldOutput, WritesOnceWhatAllSay) {
  // A busy machine may hold up an instance for longer than a line waits for others, but not every time.
  bool folded = false;
  for (int attempt = 0; attempt < 10 && !folded; ++attempt) {
    const std::string out = outputOfEightThatHaveMet();
    const std::map<int, Arguments> said = saidByEach(out);
    ASSERT_THAT(said, SizeIs(8)) << out;
    for (const auto& [instance, lines] : said)
      EXPECT_EQ(lines, instance == 3 ? Arguments({"start", "me", "end"}) : Arguments({"start", "end"}));
    folded = out == "[0-7] start\n[3] me\n[0-7] end\n";
  }
  EXPECT_TRUE(folded);
}

TEST(FoldOutput, ShowsALineThoughOthersStaySilent) {
  PoprunProcess poprun({.options = {"--num-instances", "2", "--fold-output", "sh", "-c",
                                    "[ $POPDIST_INSTANCE_INDEX = 0 ] || echo waiting; exec sleep 600"}});
  EXPECT_TRUE(poprun.waitFor([&] { return poprun.out() == "[1] waiting\n"; })) << poprun.out();
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
}

TEST(FoldOutput, LosesNothingOfMuch) {
  constexpr int kLines = 50000;
  const Outcome result =
      run({.options = {"--num-instances", "4", "--fold-output", "seq", std::to_string(kLines)}});
  const std::map<int, Arguments> said = saidByEach(result.out);
  ASSERT_THAT(said, SizeIs(4));
  for (const auto& [instance, lines] : said) {
    ASSERT_EQ(lines.size(), static_cast<std::size_t>(kLines)) << "instance " << instance;
    for (int number = 1; number <= kLines; ++number)
      ASSERT_EQ(lines[static_cast<std::size_t>(number - 1)], std::to_string(number))
          << "instance " << instance;
  }
}

TEST(ProgressBars, OfSeveralInstancesAreLinesInAFile) {
  const Outcome result =
      run({.options = {"--num-instances", "2", "sh", "-c", "printf ' 10%%\\r 20%%\\r 30%%\\ndone\\n'"}});
  EXPECT_THAT(linesOf(result.out), UnorderedElementsAre("[0]  10%\r", "[0]  20%\r", "[0]  30%", "[0] done",
                                                        "[1]  10%\r", "[1]  20%\r", "[1]  30%", "[1] done"));
}

TEST(ProgressBars, AreSeenBeforeTheyEnd) {
  PoprunProcess poprun(
      {.options = {"--num-instances", "2", "sh", "-c", "printf ' 10%%\\r 20%%'; exec sleep 600"}});
  EXPECT_TRUE(poprun.waitFor([&] { return linesOf(poprun.out()).size() == 2; })) << poprun.out();
  poprun.signal(SIGINT);
  poprun.wait();
  EXPECT_THAT(poprun.err(), IsEmpty());
}

TEST(Log, NeverLandsInsideALine) {
  const Outcome result =
      run({.options = {"--num-instances", "4", "-vv"}, .child = {"lines", "5000", "80"}, .one_pipe = true});
  EXPECT_EQ(result.exit_code, 0);
  int log_lines = 0;
  for (const std::string& line : linesOf(result.out)) {
    const bool log = line.find(" POPRUN [") != std::string::npos;
    if (log) ++log_lines;
    EXPECT_FALSE(log && line.starts_with("[")) << line;
  }
  EXPECT_GT(log_lines, 4);
}

}  // namespace
}  // namespace pop::testing
