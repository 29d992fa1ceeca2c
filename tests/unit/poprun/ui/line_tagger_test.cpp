// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/line_tagger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace pop {
namespace {

using std::chrono::milliseconds;

std::string tagged(const TagSettings& settings, std::string_view text, Stream stream = Stream::kStdout,
                   bool overprints = false) {
  std::string out;
  LineTagger(settings, stream, overprints).append(out, 3, text, WallClock::time_point(milliseconds(1500)));
  return out;
}

class TimeZone {
 public:
  explicit TimeZone(const char* zone) {
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
  ~TimeZone() {
    ::unsetenv("TZ");
    ::tzset();
  }
  TimeZone(const TimeZone&) = delete;
  TimeZone& operator=(const TimeZone&) = delete;
};

TEST(LineTagger, PutsTheInstanceInFrontOfEachLine) {
  EXPECT_EQ(tagged({.form = TagOutput::kInstance}, "one\n\ntwo\n"), "[3] one\n[3] \n[3] two\n");
}

TEST(LineTagger, WritesOpenMpisFormAsItsParsersExpectIt) {
  EXPECT_EQ(tagged({.form = TagOutput::kMpi}, "a\n"), "[1,3]<stdout>:a\n");
  EXPECT_EQ(tagged({.form = TagOutput::kMpi}, "a\n", Stream::kStderr), "[1,3]<stderr>:a\n");
}

TEST(LineTagger, NamesTheHost) {
  LineTagger tagger({.form = TagOutput::kHost}, Stream::kStdout, false);
  std::string out;
  tagger.setHosts({"a", "a", "b", "b"});
  tagger.append(out, 3, "x\n", WallClock::now());
  tagger.setHosts({"a", "a", "c", "c"});
  tagger.append(out, 3, "x\n", WallClock::now());
  EXPECT_EQ(out, "b:3: x\nc:3: x\n");
}

TEST(LineTagger, PutsTheTimeBeforeTheTag) {
  const TimeZone zone("UTC+3:30");  // west of Greenwich, as POSIX has it
  EXPECT_EQ(tagged({.form = TagOutput::kInstance, .timestamps = true}, "a\nb\n"),
            "1969-12-31T20:30:01.500-03:30 [3] a\n1969-12-31T20:30:01.500-03:30 [3] b\n");
  EXPECT_EQ(tagged({.timestamps = true}, "a\n"), "1969-12-31T20:30:01.500-03:30 a\n");
}

TEST(LineTagger, EndsWhatIsNoLine) {
  EXPECT_EQ(tagged({.form = TagOutput::kInstance}, "one\ntwo"), "[3] one\n[3] two\n");
  EXPECT_EQ(tagged({}, "two"), "two\n");
}

TEST(LineTagger, MakesALineOfEachStateOfAProgressBar) {
  EXPECT_EQ(tagged({.form = TagOutput::kInstance}, " 10%\r 20%\r 30%\nnext\r\n"),
            "[3]  10%\r\n[3]  20%\r\n[3]  30%\n[3] next\r\n");
  EXPECT_EQ(tagged({.form = TagOutput::kInstance}, " 10%\r"), "[3]  10%\r\n");
  EXPECT_EQ(tagged({}, " 10%\r 20%\n"), " 10%\r\n 20%\n");
}

TEST(LineTagger, LetsAProgressBarOverprintItselfOnATerminal) {
  EXPECT_EQ(tagged({.form = TagOutput::kInstance}, " 10%\r 20%\r", Stream::kStderr, true),
            "[3]  10%\r\x1b[K[3]  20%\r");
}

TEST(LineTagger, NamesAllWhoSaidAFoldedLine) {
  std::string out;
  LineTagger tagger({.form = TagOutput::kMpi}, Stream::kStdout, false);
  tagger.appendFolded(out, "0-2,5", "hello\n", {});
  EXPECT_EQ(out, "[0-2,5] hello\n");
}

}  // namespace
}  // namespace pop
