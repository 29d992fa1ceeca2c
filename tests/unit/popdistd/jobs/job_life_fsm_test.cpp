// SPDX-License-Identifier: Apache-2.0
// The table of a job's life, compared with the one that people read.
#include "popdistd/jobs/life/job_life_fsm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/text.h"
#include "tests/testing/file_text.h"

namespace pop::popdistd {
namespace {

using Event = JobLifeEvent;
using Do = JobLifeAction;

const std::map<std::string, v1::JobState> kStates{
    {"queued", v1::JOB_QUEUED},   {"held", v1::JOB_HELD},     {"starting", v1::JOB_STARTING},
    {"running", v1::JOB_RUNNING}, {"ending", v1::JOB_ENDING}, {"ended", v1::JOB_ENDED},
};

const std::map<std::string, Event> kEvents{
    {"Hold", Event::kHold},
    {"Release", Event::kRelease},
    {"its turn", Event::kTurn},
    {"cannot start", Event::kCannotStart},
    {"Cancel before the order", Event::kDrop},
    {"Cancel", Event::kCancel},
    {"refused", Event::kRefused},
    {"not there", Event::kNotThere},
    {"runner there", Event::kRunnerThere},
    {"runner gone", Event::kRunnerGone},
    {"outcome", Event::kOutcome},
    {"hosts free", Event::kHostsFree},
    {"host lost", Event::kHostLost},
};

using Written = std::tuple<v1::JobState, Event, v1::JobState>;

std::string before(const std::string& text, const std::string& any_of) {
  return text.substr(0, text.find_first_of(any_of));
}

// Cells of the rows of "States", without the first and the last: of jobs that are not there yet, or no more.
std::vector<std::vector<std::string>> rowsOfSpec() {
  const std::string page = pop::testing::fileText(POP_SOURCE_DIR "/docs/spec/daemon_jobs.md");
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : split(page.substr(page.find("| State | Event | Next |")), '\n')) {
    if (!line.starts_with("|")) break;
    std::vector<std::string> cells;
    for (const std::string& cell : split(line, '|')) cells.emplace_back(trimmed(cell));
    rows.push_back({cells.at(1), cells.at(2), cells.at(3)});
  }
  rows.erase(rows.begin(), rows.begin() + 2);
  EXPECT_EQ(rows.front()[1], "Submit");
  EXPECT_TRUE(rows.back()[1].starts_with("Forget"));
  return {rows.begin() + 1, rows.end() - 1};
}

std::set<Written> writtenInSpec() {
  std::set<Written> all;
  for (const std::vector<std::string>& row : rowsOfSpec()) {
    for (const std::string& state : split(row[0], ',')) {
      const auto added = all.emplace(kStates.at(std::string(trimmed(state))), kEvents.at(before(row[1], ":")),
                                     kStates.at(before(row[2], ",:;( ")));
      EXPECT_TRUE(added.second) << row[0] << ", " << row[1];
    }
  }
  return all;
}

TEST(JobLifeFsm, IsTheTableOfTheSpec) {
  std::set<Written> all;
  for (const JobLifeRow& row : kJobLifeTable) all.emplace(row.from, row.on, row.to);
  EXPECT_EQ(all, writtenInSpec());
}

TEST(JobLifeFsm, HasNoPairTwice) {
  std::set<std::pair<v1::JobState, Event>> seen;
  for (const JobLifeRow& row : kJobLifeTable) EXPECT_TRUE(seen.emplace(row.from, row.on).second);
}

TEST(JobLifeFsm, EveryStateIsReachedAndReachesEndedWhichAloneIsTheLast) {
  std::set<v1::JobState> reached{firstState(false)};
  std::set<v1::JobState> reaches_ended{v1::JOB_ENDED};
  std::set<v1::JobState> left;
  for (std::size_t round = 0; round < kStates.size(); ++round) {
    for (const JobLifeRow& row : kJobLifeTable) {
      left.insert(row.from);
      if (reached.contains(row.from)) reached.insert(row.to);
      if (reaches_ended.contains(row.to)) reaches_ended.insert(row.from);
    }
  }
  EXPECT_TRUE(reached.contains(firstState(true)));
  for (const auto& [name, state] : kStates) {
    EXPECT_TRUE(reached.contains(state)) << name;
    EXPECT_TRUE(reaches_ended.contains(state)) << name;
    EXPECT_EQ(left.contains(state), name != "ended") << name;
  }
}

TEST(JobLifeFsm, EveryEndHasItsActionAndNothingElseHas) {
  const std::set<Do> ends{Do::kEndFailed, Do::kEndCancelled, Do::kEndLost, Do::kEndByOutcome};
  for (const JobLifeRow& row : kJobLifeTable) EXPECT_EQ(row.to == v1::JOB_ENDED, ends.contains(row.action));
}

// A job that its hosts have heard of ends by its outcome, by their proof, or when they are lost; or they have
// nothing of it.
TEST(JobLifeFsm, AnEndIsProved) {
  const std::set<Event> proofs{Event::kOutcome, Event::kHostsFree, Event::kHostLost, Event::kNotThere,
                               Event::kRefused};
  for (const JobLifeRow& row : kJobLifeTable) {
    const bool has_run = row.from == v1::JOB_RUNNING || row.from == v1::JOB_ENDING;
    if (has_run && row.to == v1::JOB_ENDED) {
      EXPECT_TRUE(proofs.contains(row.on));
    }
  }
}

}  // namespace
}  // namespace pop::popdistd
