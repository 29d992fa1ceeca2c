// SPDX-License-Identifier: Apache-2.0
#include "popctl/jobs/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "popctl/jobs/overview.h"
#include "popctl/jobs/show_job.h"
#include "popctl/rpc/exit_codes.h"
#include "popctl/rpc/reconnects.h"

namespace pop::popctl {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const WallTime kNow{std::chrono::seconds(1'700'000'100)};

v1::JobInfo job(std::int64_t id, v1::JobState state) {
  v1::JobInfo job;
  job.set_id(id);
  job.set_state(state);
  job.mutable_started()->set_seconds(1'700'000'000);
  return job;
}

TEST(Tables, AreWordsWhereThereIsNothing) {
  EXPECT_EQ(jobsTable({}, kNow), "no jobs\n");
  EXPECT_EQ(hostsTable({}, kNow), "no hosts have joined\n");
}

TEST(Tables, OfJobsHaveALineForEach) {
  v1::JobInfo ended = job(3, v1::JOB_ENDED);
  ended.set_end(v1::END_TIMED_OUT);
  ended.mutable_outcome()->set_exit_code(124);
  ended.mutable_ended()->set_seconds(1'700'000'065);
  for (const char* host : {"h0", "h1", "h2"}) ended.add_hosts(host);
  ended.add_command("./a b");
  const std::string table = jobsTable({job(12, v1::JOB_RUNNING), ended}, kNow);
  EXPECT_THAT(table,
              AllOf(HasSubstr("running"), HasSubstr("1 min 40 s"), HasSubstr("timed out"), HasSubstr("124"),
                    HasSubstr("1 min 05 s"), HasSubstr("h0 and 2 more"), HasSubstr("'./a b'")));
}

TEST(Tables, OfHostsShowSlotsThatDoNotCount) {
  v1::HostInfo host;
  host.set_name("h0");
  host.set_slots(64);
  EXPECT_THAT(hostText(host, kNow), Not(HasSubstr("64 of")));
  host.set_slots_said(100'000);
  EXPECT_THAT(hostText(host, kNow), HasSubstr("64 of 100000"));
  EXPECT_THAT(hostsTable({host}, kNow), HasSubstr("64 of 100000"));
}

TEST(Tables, CannotAffectATerminal) {
  v1::JobInfo odd = job(1, v1::JOB_QUEUED);
  odd.set_user("\x1b[2J");
  odd.set_reason("a\nb");
  odd.add_command("\x07");
  EXPECT_THAT(jobsTable({odd}, kNow) + jobText(odd, kNow),
              AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07"))));
}

TEST(Tables, OfOneJobLeaveOutWhatIsEmpty) {
  v1::JobInfo queued = job(1, v1::JOB_QUEUED);
  queued.clear_started();
  queued.set_reason("no host is up");
  EXPECT_THAT(jobText(queued, kNow),
              AllOf(HasSubstr("no host is up"), Not(HasSubstr("started")), Not(HasSubstr("name:"))));
}

v1::Change changeOf(v1::JobInfo info) {
  v1::Change change;
  *change.mutable_job() = std::move(info);
  return change;
}

TEST(Overview, IsWholeAfterASnapshotAndFollowsChanges) {
  Overview overview;
  v1::Change change;
  change.mutable_snapshot_begins();
  overview.apply(change);
  overview.apply(changeOf(job(1, v1::JOB_RUNNING)));
  EXPECT_FALSE(overview.isWhole());
  change.mutable_snapshot_ends();
  overview.apply(change);
  EXPECT_TRUE(overview.isWhole());
  overview.apply(changeOf(job(2, v1::JOB_QUEUED)));
  ASSERT_EQ(overview.jobs({}).size(), 2U);
  EXPECT_EQ(overview.jobs({})[0].id(), 2);
  EXPECT_EQ(overview.jobs({.states = {v1::JOB_RUNNING}}).size(), 1U);
  change.set_job_forgotten(1);
  overview.apply(change);
  EXPECT_EQ(overview.jobs({}).size(), 1U);
  change.mutable_snapshot_begins();
  overview.apply(change);
  EXPECT_FALSE(overview.isWhole());
  EXPECT_TRUE(overview.jobs({}).empty());
}

TEST(Overview, TopShowsWhatRunsFirst) {
  const std::vector<v1::JobInfo> jobs = forTop(
      {job(5, v1::JOB_ENDED), job(4, v1::JOB_QUEUED), job(3, v1::JOB_RUNNING), job(2, v1::JOB_RUNNING)});
  EXPECT_EQ(jobs[0].id(), 3);
  EXPECT_EQ(jobs[1].id(), 2);
  EXPECT_EQ(jobs[2].id(), 4);
  EXPECT_EQ(countsText(jobs, {}), "2 jobs running, 1 waiting; 0 of 0 hosts up");
}

TEST(ExitCodes, OfJobsAreTheirOwn) {
  v1::JobInfo ended = job(1, v1::JOB_ENDED);
  ended.set_end(v1::END_CANCELLED);
  EXPECT_EQ(exitCodeOf(ended), 143);
  ended.set_end(v1::END_LOST);
  EXPECT_EQ(exitCodeOf(ended), 125);
  ended.mutable_outcome()->set_exit_code(7);
  EXPECT_EQ(exitCodeOf(ended), 7);
}

TEST(Reconnects, EndWhenNothingHasComeForTheWindow) {
  Reconnects reconnects(10s);
  Reconnects::Time now{};
  reconnects.began(now);
  EXPECT_TRUE(reconnects.goesOn(now, false));
  EXPECT_TRUE(reconnects.isNews());
  EXPECT_FALSE(reconnects.isNews());
  now += 9s;
  reconnects.began(now);
  EXPECT_TRUE(reconnects.goesOn(now, false));
  reconnects.began(now);
  reconnects.received();
  now += 1s;
  EXPECT_TRUE(reconnects.goesOn(now, false)) << "the window begins anew";
  now += 10s;
  reconnects.began(now);
  EXPECT_FALSE(reconnects.goesOn(now, false));
}

TEST(Reconnects, AConnectionThatLastedWasOneThoughNothingCame) {
  Reconnects reconnects(10s);
  Reconnects::Time now{};
  reconnects.began(now);
  EXPECT_TRUE(reconnects.goesOn(now, false));
  now += 1s;
  reconnects.began(now);
  now += 1h;
  EXPECT_TRUE(reconnects.goesOn(now, false));
}

TEST(Reconnects, ConnectingThatTakesLongIsNoConnection) {
  Reconnects reconnects(10s);
  Reconnects::Time now{};
  reconnects.began(now);
  EXPECT_TRUE(reconnects.goesOn(now, true));
  now += 5s;
  EXPECT_TRUE(reconnects.goesOn(now, true));
  reconnects.began(now);
  now += 5s;
  EXPECT_FALSE(reconnects.goesOn(now, true));
}

TEST(ShownSpec, IsTheDaemonsOrElseWhatTheJobShows) {
  v1::JobInfo info = job(1, v1::JOB_RUNNING);
  info.set_num_instances(3);
  info.add_command("./train");
  EXPECT_EQ(shownSpec(info).value().num_instances, 3);
  EXPECT_EQ(shownSpec(info).value().programs.front().command.front(), "./train");
  auto& program = *info.mutable_shown()->add_programs();
  program.add_command("./a");
  program.set_num_instances(5);
  info.mutable_shown()->set_num_instances(5);
  info.mutable_shown()->set_max_restarts(2);
  EXPECT_EQ(shownSpec(info).value().num_instances, 5);
  EXPECT_EQ(shownSpec(info).value().max_restarts, 2);
}

TEST(OutputOptions, TakeOnlyThoseAboutOutput) {
  EXPECT_EQ(outputOptions({"--tag-output", "no", "-v"}).value().tag_output, TagOutput::kNo);
  EXPECT_EQ(outputOptions({"--output-filename=d"}).value().output_filename, "d");
  for (const auto& odd : std::vector<std::vector<std::string>>{
           {"--num-replicas", "2"}, {"--odd"}, {"word"}, {"--tag-output=odd"}, {"--host", "a"}})
    EXPECT_FALSE(outputOptions(odd).ok()) << ::testing::PrintToString(odd);
}

}  // namespace
}  // namespace pop::popctl
