// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/jobs_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace pop {
namespace {

using runner::JobState;
using std::chrono::hours;
using std::chrono::seconds;

constexpr std::chrono::system_clock::time_point kBegun{seconds(1'700'000'000)};  // 2023-11-14T22:13:20Z

class JobsTable : public ::testing::Test {
 protected:
  JobsTable() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

std::vector<ListedJob> someJobs() {
  return {
      {{.id = 7,
        .name = "",
        .state = JobState::kEnded,
        .path = "/s/7",
        .begun = kBegun,
        .ended = kBegun + seconds(125)},
       3,
       {{"./train", "a b"}, {"./eval"}}},
      {{.id = 12,
        .name = "night-run",
        .state = JobState::kLost,
        .path = "/s/12",
        .begun = kBegun,
        .ended = {}},
       {},
       {}},
      {{.id = 13, .name = "long", .state = JobState::kRunning, .path = "/s/13", .begun = kBegun, .ended = {}},
       {},
       {{"evil\x1b[2J"}}}};
}

TEST_F(JobsTable, HasALineForEachJobBelowItsTitles) {
  EXPECT_EQ(jobsTable(someJobs(), kBegun + hours(30)),
            "ID  NAME       STATE    EXIT  BEGUN                TOOK        PROGRAM\n"
            "7   -          ended    3     2023-11-14 22:13:20  2 min 05 s  ./train 'a b' : ./eval\n"
            "12  night-run  lost     -     2023-11-14 22:13:20  -           ?\n"
            "13  long       running  -     2023-11-14 22:13:20  1 d 06 h    'evil\\x1b[2J'\n");
}

TEST_F(JobsTable, SaysHowLongInTwoUnits) {
  const auto tookOf = [](seconds time) {
    const std::string table = jobsTable({someJobs().back()}, kBegun + time);
    const std::size_t at = table.find("22:13:20  ") + 10;
    return table.substr(at, table.find("  '", at) - at);
  };
  EXPECT_EQ(tookOf(seconds(0)), "0 s ");
  EXPECT_EQ(tookOf(seconds(-5)), "0 s ") << "clocks may be set back";
  EXPECT_EQ(tookOf(seconds(59)), "59 s");
  EXPECT_EQ(tookOf(seconds(60)), "1 min 00 s");
  EXPECT_EQ(tookOf(seconds(3599)), "59 min 59 s");
  EXPECT_EQ(tookOf(hours(23)), "23 h 00 min");
  EXPECT_EQ(tookOf(hours(24)), "1 d 00 h");
}

TEST_F(JobsTable, OfNoJobsIsOneLine) {
  EXPECT_EQ(jobsTable({}, kBegun), "no detached jobs\n");
}

TEST_F(JobsTable, AsJsonHasTheSameKeysForEachJob) {
  EXPECT_EQ(jobsJson(someJobs()),
            "[\n"
            R"(  {"id":7,"name":null,"state":"ended","exit_code":3,"begun":"2023-11-14T22:13:20Z",)"
            R"("ended":"2023-11-14T22:15:25Z","programs":[["./train","a b"],["./eval"]],"directory":"/s/7"},)"
            "\n"
            R"(  {"id":12,"name":"night-run","state":"lost","exit_code":null,"begun":"2023-11-14T22:13:20Z",)"
            R"("ended":null,"programs":null,"directory":"/s/12"},)"
            "\n"
            R"(  {"id":13,"name":"long","state":"running","exit_code":null,"begun":"2023-11-14T22:13:20Z",)"
            R"("ended":null,"programs":[["evil\u001b[2J"]],"directory":"/s/13"})"
            "\n]\n");
  EXPECT_EQ(jobsJson({}), "[]\n");
}

}  // namespace
}  // namespace pop
