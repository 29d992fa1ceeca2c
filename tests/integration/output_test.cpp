// SPDX-License-Identifier: Apache-2.0
// The output of instances arrives: tagged when several write, otherwise byte by byte, and never two instances
// in a line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/testing/poprun_process.h"
#include "tests/testing/test_child.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

const Arguments kEchoIndex{"sh", "-c", "echo out $POPDIST_INSTANCE_INDEX; echo err >&2"};

Outcome runEcho(Arguments options) {
  options.insert(options.end(), kEchoIndex.begin(), kEchoIndex.end());
  return run({.options = std::move(options)});
}

TEST(Tags, AreThereByDefaultWhenSeveralInstancesWrite) {
  const Outcome result = runEcho({"--num-instances", "2"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(linesOf(result.out), UnorderedElementsAre("[0] out 0", "[1] out 1"));
  EXPECT_THAT(linesOf(result.err), UnorderedElementsAre("[0] err", "[1] err"));
}

TEST(Tags, AreNotThereByDefaultForOneInstance) {
  const Outcome result = runEcho({});
  EXPECT_EQ(result.out, "out 0\n");
  EXPECT_EQ(result.err, "err\n");
}

TEST(Tags, ObeyTheOption) {
  EXPECT_THAT(linesOf(runEcho({"--num-instances=2", "--tag-output=no"}).out),
              UnorderedElementsAre("out 0", "out 1"));
  const Outcome tagged = runEcho({"--tag-output", "yes"});
  EXPECT_EQ(tagged.out, "[0] out 0\n");
  EXPECT_EQ(tagged.err, "[0] err\n");
  EXPECT_EQ(runEcho({"--tag-output", "instance"}).out, "[0] out 0\n");
}

TEST(OnlyOutputFromInstance, DropsAllOthers) {
  const Outcome result = runEcho({"--num-instances", "4", "--only-output-from-instance", "2"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "out 2\n");
  EXPECT_EQ(result.err, "err\n");
  const Outcome tagged = runEcho({"--num-instances=4", "--only-output-from-instance=2", "--tag-output=yes"});
  EXPECT_EQ(tagged.out, "[2] out 2\n");
}

TEST(UnterminatedLine, StaysAsItIsFromOneInstance) {
  EXPECT_EQ(run({.child = {"unterminated", "the end"}}).out, "the end");
}

TEST(UnterminatedLine, IsEndedWhenSeveralShareTheStream) {
  const Outcome result = run({.options = {"--num-instances", "3"}, .child = {"unterminated", "the end"}});
  EXPECT_THAT(linesOf(result.out), UnorderedElementsAre("[0] the end", "[1] the end", "[2] the end"));
  EXPECT_EQ(result.out.back(), '\n');
}

TEST(BinaryOutput, OfOneInstancePassesByteByByte) {
  constexpr std::size_t kBytes = 1 << 20;
  const Outcome result = run({.child = {"binary", std::to_string(kBytes)}});
  EXPECT_EQ(result.exit_code, 0);
  ASSERT_EQ(result.out.size(), kBytes);
  EXPECT_TRUE(result.out == binaryText(kBytes));
}

TEST(BinaryOutput, PassesToASocketAsWell) {
  constexpr std::size_t kBytes = 1 << 20;
  const Outcome result = run({.child = {"binary", std::to_string(kBytes)}, .socket_output = true});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out == binaryText(kBytes)) << result.out.size() << " bytes";
}

// Empty when `text` holds all that `instances` copies of `lines COUNT BYTES` write, each stream's in its
// order.
std::string mistakeInLines(const std::string& text, int instances, int count, std::size_t bytes) {
  std::map<std::pair<int, char>, int> next;
  for (const std::string& line : linesOf(text)) {
    int tag = -1;
    int instance = -1;
    char stream = '?';
    if (std::sscanf(line.c_str(), "[%d] %d %c ", &tag, &instance, &stream) != 3 || tag != instance) {
      return "not a line of one instance: " + line;
    }
    int& number = next[{instance, stream}];
    const std::string expected = '[' + std::to_string(tag) + "] " + lineText(instance, stream, number, bytes);
    if (line + '\n' != expected) return "expected " + expected + "     got " + line;
    ++number;
  }
  if (static_cast<int>(next.size()) != 2 * instances) return "some stream is missing";
  for (const auto& [stream, lines] : next) {
    if (lines != count) return "an instance's stream has " + std::to_string(lines) + " lines";
  }
  return {};
}

TEST(Lines, OfFourInstancesOnTwoStreamsAreNeverTornInOnePipe) {
  constexpr int kLines = 20000;
  const Outcome result = run({.options = {"--num-instances", "4"},
                              .child = {"lines", std::to_string(kLines), "80"},
                              .one_pipe = true});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(mistakeInLines(result.out, 4, kLines, 80), "");
}

TEST(Lines, OfEightInstancesOnTwoPipesAreAllThereInOrder) {
  constexpr int kLines = 10000;
  const Outcome result =
      run({.options = {"--num-instances", "8"}, .child = {"lines", std::to_string(kLines), "100"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(mistakeInLines(result.out + result.err, 8, kLines, 100), "");
}

TEST(Lines, OfManyLengthsAreNeverTornInOneSocket) {
  for (const std::size_t bytes : {20U, 4096U, 5000U}) {
    const int lines = static_cast<int>(2000000 / bytes);
    const Outcome result = run({.options = {"--num-instances", "2"},
                                .child = {"lines", std::to_string(lines), std::to_string(bytes)},
                                .one_pipe = true,
                                .socket_output = true});
    EXPECT_EQ(mistakeInLines(result.out, 2, lines, bytes), "");
  }
}

TEST(LongLine, OfOneInstanceStaysWhole) {
  constexpr std::size_t kBytes = 200 << 10;
  const Outcome result = run({.child = {"long-line", std::to_string(kBytes)}});
  EXPECT_TRUE(result.out == lineText(0, 'o', 0, kBytes)) << result.out.size() << " bytes";
}

// A line of one of several instances is cut, since the others cannot wait for ever for its end: into tagged
// pieces that lack nothing.
TEST(LongLine, OfSeveralInstancesArrivesInPiecesOfOneInstanceEach) {
  constexpr std::size_t kBytes = 200 << 10;
  const Outcome result =
      run({.options = {"--num-instances", "2"}, .child = {"long-line", std::to_string(kBytes)}});
  std::map<char, std::string> joined;
  const std::vector<std::string> lines = linesOf(result.out);
  for (const std::string& line : lines) {
    ASSERT_THAT(line.substr(0, 4), ::testing::MatchesRegex("\\[[01]\\] "));
    joined[line[1]] += line.substr(4);
  }
  EXPECT_LE(lines.size(), 8U);
  for (const char instance : {'0', '1'}) EXPECT_TRUE(joined[instance] + '\n' == lineText(0, 'o', 0, kBytes));
}

}  // namespace
}  // namespace pop::testing
