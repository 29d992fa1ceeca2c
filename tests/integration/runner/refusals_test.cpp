// SPDX-License-Identifier: Apache-2.0
// Jobs that a runner does not start: one line says why, and nothing of it is left.
#include "common/base/text.h"
#include "tests/integration/runner/runner_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class RunnerRefusals : public RunnerTest {
 protected:
  std::string refused(const v1::HostOrder& order, int exit_code = 125) const {
    RunnerProcess runner(job(), order);
    EXPECT_EQ(runner.exitCode(), exit_code);
    EXPECT_FALSE(runner.becomesUp());
    std::string words = runner.errors();
    EXPECT_EQ(words.find('\n'), words.size() - 1) << words;
    EXPECT_TRUE(nothingIsLeft());
    return words;
  }
  void expectEmpty() const { EXPECT_TRUE(std::filesystem::is_empty(job())); }
};

TEST_F(RunnerRefusals, NameWhatIsWrongWithAJob) {
  v1::HostOrder order = scriptOrder("true");
  order.mutable_start()->set_spec("no spec");
  EXPECT_THAT(refused(order), HasSubstr("malformed"));
  EXPECT_THAT(refused(scriptOrder("true", 0)), HasSubstr("at least 1"));
  v1::JobSpec spec;
  spec.add_programs()->add_words("true");
  spec.mutable_copies()->add_paths("/etc");
  EXPECT_THAT(refused(orderOf(spec)), HasSubstr("copies"));
  expectEmpty();
}

TEST_F(RunnerRefusals, NameWhatIsMissingForOtherHosts) {
  v1::JobSpec spec;
  for (const char* host : {"h0", "h1"}) spec.add_hosts()->set_name(host);
  spec.add_programs()->add_words("true");
  spec.mutable_programs(0)->set_num_instances(2);
  v1::HostOrder order = orderOf(spec);
  EXPECT_THAT(refused(order), HasSubstr("port 0"));
  order.mutable_start()->set_agent_port(7571);
  order.mutable_start()->mutable_credentials()->set_key_pem("none");
  EXPECT_THAT(refused(order), HasSubstr("the authority's certificate"));
  expectEmpty();
}

TEST_F(RunnerRefusals, OfAJobThatCannotBegin) {
  v1::JobSpec spec;
  spec.add_programs()->add_words("true");
  spec.set_executable_cache_path("/proc/none");
  spec.set_make_executable_cache(true);
  EXPECT_THAT(refused(orderOf(spec)), HasSubstr("/proc/none"));
  expectEmpty();
}

TEST_F(RunnerRefusals, SpareAJobThatIsThere) {
  RunnerProcess runner(job(), scriptOrder("echo first; " + kWaitsToGo));
  ASSERT_TRUE(runner.becomesUp());
  for (const v1::HostOrder& order : {scriptOrder("echo second"), removeOrder()}) {
    RunnerProcess other(job(), order);
    EXPECT_EQ(other.exitCode(), 125);
    EXPECT_THAT(other.errors(), HasSubstr("another process runs the job"));
  }
  letGo();
  runner.retire();
  EXPECT_EQ(runner.exitCode(), 0);
  EXPECT_THAT(refused(scriptOrder("echo second")), HasSubstr("before"));
  EXPECT_EQ(outcomeOnDisk()->exit_code, 0);
}

TEST_F(RunnerRefusals, OfAPlaceThatIsNotTheJobsOwn) {
  std::filesystem::permissions(job(), std::filesystem::perms::all);
  EXPECT_THAT(refused(scriptOrder("true")), HasSubstr("0700"));
  expectEmpty();
  std::filesystem::remove(job());
  EXPECT_THAT(refused(scriptOrder("true")), HasSubstr(job()));
}

TEST_F(RunnerRefusals, OfAFeederWithoutRecordsHaveACodeOfTheirOwn) {
  EXPECT_THAT(refused(feedOrder(), 3), HasSubstr("no records"));
  expectEmpty();
  std::filesystem::remove(job());
  EXPECT_THAT(refused(feedOrder(), 3), HasSubstr(job()));
}

TEST_F(RunnerRefusals, OfAnotherFirstOrder) {
  EXPECT_THAT(refused(v1::HostOrder()), HasSubstr("first order"));
  RunnerProcess silent(job(), feedOrder());
  silent.hangUp();
  EXPECT_NE(silent.exitCode(), 0);
}

}  // namespace
}  // namespace pop::testing
