// SPDX-License-Identifier: Apache-2.0
// The summary for the user at the end of a job that failed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "common/sys/fd.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const char* const kFails =
    "[ $POPDIST_INSTANCE_INDEX = 1 ] || exec sleep 600; "
    "echo Traceback >&2; printf 'KeyError\\n' >&2; exit 3";

TEST(Summary, HasTheLastErrorsOfWhatFailedFirst) {
  const Outcome result = run({.options = {"--num-instances", "3", "sh", "-c", kFails}});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(
      result.err,
      MatchesRegex("\\[1\\] Traceback\n\\[1\\] KeyError\n"
                   "poprun: instance 1 of sh \\(pid [0-9]+\\) exited with code 3; the other 2 instances "
                   "were stopped\n"
                   "  on localhost, [0-9]+\\.[0-9]+ s after the start, at [-+.:T0-9]+\n"
                   "  its last lines on stderr:\n    Traceback\n    KeyError\n"));
}

TEST(Summary, HasThemThoughTheyWereNotShown) {
  const Outcome result =
      run({.options = {"--num-instances", "2", "--only-output-from-instance", "0", "sh", "-c", kFails}});
  EXPECT_THAT(result.err, ::testing::StartsWith("poprun: instance 1 of sh"));
  EXPECT_THAT(result.err, HasSubstr("    Traceback\n    KeyError\n"));
}

TEST(Summary, DoesNotSayThatThoseWereStoppedWhoHadEnded) {
  const TempDir directory;
  const std::string told = directory.path() + "/told";
  ASSERT_EQ(::mkfifo(told.c_str(), 0600), 0);
  const std::string script = "[ $RANK = 1 ] || exit 0; read line <" + told + "; exit 3";
  PoprunProcess poprun({.options = {"--num-instances", "3", "-vv", "sh", "-c", script}});
  for (const std::string instance : {"0", "2"}) {
    ASSERT_TRUE(poprun.waitFor([&] {
      return poprun.err().find("instance " + instance + " is closed") != std::string::npos;
    })) << poprun.err();
  }
  ASSERT_FALSE(poprun.ended()) << "nobody would open the other end";
  sys::Fd(::open(told.c_str(), O_WRONLY | O_CLOEXEC)).reset();
  EXPECT_EQ(poprun.wait(), 3);
  EXPECT_THAT(poprun.err(), HasSubstr(") exited with code 3\n  on localhost, "));
}

TEST(Summary, OfSuccessAddsNothing) {
  EXPECT_EQ(run({.options = {"sh", "-c", "printf unfinished >&2"}}).err, "unfinished");
}

TEST(Summary, BeginsALineOfItsOwn) {
  const Outcome result = run({.options = {"sh", "-c", "printf unfinished >&2; exit 1"}});
  EXPECT_THAT(result.err, ::testing::StartsWith("unfinished\npoprun: instance 0 of sh (pid "));
  const Outcome one_pipe = run({.options = {"sh", "-c", "printf unfinished; exit 1"}, .one_pipe = true});
  EXPECT_THAT(one_pipe.out, ::testing::StartsWith("unfinished\npoprun: instance 0 of sh (pid "));
}

}  // namespace
}  // namespace pop::testing
