// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/testing/golden.h"

namespace pop {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

model::JobSpec jobOf(int instances) {
  return {.programs = {{.command = {"./train", "--data", "/data"}, .num_instances = instances}},
          .num_instances = instances,
          .num_replicas = instances,
          .system = "pod16"};
}

std::string explained(const model::JobSpec& spec, const HostBindings& bindings = {}) {
  const Result<std::string> text = explainPlan(spec, bindings);
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? text.value() : "";
}

model::JobSpec twoInstancesOfTwoReplicas() {
  model::JobSpec spec = jobOf(2);
  spec.num_replicas = 4;
  spec.ipus_per_replica = 2;
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  return spec;
}

TEST(ExplainPlan, NamesEveryInstanceWithItsShare) {
  EXPECT_EQ(explained(twoInstancesOfTwoReplicas()), testing::golden("explain_2_instances.txt"));
}

TEST(ExplainPlan, SaysWhatIsCopied) {
  model::JobSpec spec = jobOf(1);
  EXPECT_THAT(explained(spec), ::testing::Not(HasSubstr("copied to")));
  spec.copies = {{"/opt/sdk", "/data"}, true};
  EXPECT_THAT(explained(spec),
              HasSubstr("copied to every other host before the start:\n    /opt/sdk\n    /data\n"
                        "the user's ssh key is installed on every other host\n"));
}

TEST(ExplainPlan, OfOneInstanceHasAllVariablesTogether) {
  const std::string text = explained(jobOf(1));
  EXPECT_THAT(text, HasSubstr("instance 0 on localhost: replica 0 on IPU 0, IPU-Link domain 0\n"
                              "environment of all instances:\n"));
  EXPECT_THAT(text, HasSubstr("    RANK=0\n"));
}

TEST(ExplainPlan, OfAHundredInstancesIsStillReadable) {
  model::JobSpec spec = jobOf(100);
  const std::string text = explained(spec);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 800);
  EXPECT_THAT(text, HasSubstr("instance 99 on localhost: replica 99 on IPU 99, IPU-Link domain 1\n"));
}

TEST(ExplainPlan, QuotesArgumentsThatHaveBlanks) {
  model::JobSpec spec = jobOf(1);
  spec.programs.front().command = {"./train", "a b", ""};
  EXPECT_THAT(explained(spec), HasSubstr("program: ./train 'a b' ''\n"));
}

TEST(ExplainPlan, ShowsNothingThatMovesACursor) {
  model::JobSpec spec = jobOf(1);
  spec.programs.front().command = {"./tr\x1b[2Jain"};
  spec.programs.front().working_directory = "/a\nb";
  spec.programs.front().environment = {{"OF_A_PROGRAM\x1b[2J", "1"}};
  spec.environment = {
      {"PLAIN", "\x1b[2J"}, {"LIKE_A_PLACEHOLDER", "<\x1b[2J>"}, {"NAME\x1b[2J", "1"}, {"C1", "\xc2\x9b"}};
  spec.partition.name = "p\x1b[2J";
  spec.partition.server_host = "server\x1b[2J";
  spec.copies.paths = {"/data\x1b[2J"};
  const std::string text = explained(spec);
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\xc2\x9b")));
  EXPECT_THAT(text, HasSubstr("(in /a\\x0ab)"));
}

TEST(ExplainPlan, SaysWhenNoPodIsLargeEnough) {
  model::JobSpec spec = jobOf(16);
  spec.num_replicas = 1024;
  spec.system = "";
  EXPECT_THAT(explained(spec), HasSubstr("system: none is large enough, partition of 1024 IPUs\n"));
}

TEST(ExplainPlan, SaysWhenNoIpuIsAttached) {
  model::JobSpec spec = jobOf(1);
  spec.offline_mode = true;
  EXPECT_THAT(explained(spec),
              HasSubstr("system: pod16 (offline: no IPU is attached), partition of 1 IPU\n"));
}

TEST(ExplainPlan, NamesThePartitionAndItsServer) {
  model::JobSpec spec = jobOf(2);
  spec.partition.name = "p2";
  const std::string text = explained(spec);
  EXPECT_THAT(text, HasSubstr("partition of 2 IPUs, 'p2' of the V-IPU server localhost:8090\n"));
  EXPECT_THAT(text, HasSubstr("    IPUOF_VIPU_API_PARTITION_ID=p2\n"));
}

TEST(ExplainPlan, SaysThatThePodIsThePartition) {
  model::JobSpec spec = jobOf(2);
  spec.partition.name = "p2";
  spec.system.clear();
  const std::string text = explained(spec);
  EXPECT_THAT(text,
              HasSubstr("system: that of the partition, partition of 2 IPUs, 'p2' of the V-IPU server"));
  EXPECT_THAT(text, HasSubstr("    POPDIST_SYSTEM=<system of the partition>\n"));
}

TEST(ExplainPlan, NamesASystemThatIsDescribed) {
  model::JobSpec spec = jobOf(2);
  spec.system = "system mine; machines 2";
  const std::string text = explained(spec);
  EXPECT_THAT(text, HasSubstr("system: mine, partition of 2 IPUs\n"));
  EXPECT_THAT(text, HasSubstr("POPDIST_SYSTEM='system mine; machines 2'"));
}

TEST(ExplainPlan, SaysWhyAPartitionIsLargerThanTheReplicas) {
  EXPECT_THAT(explained(jobOf(3)),
              HasSubstr("    partition of 4 IPUs for 3: the size of a partition is a power"));
}

TEST(ExplainPlan, NamesTheInstancesOfEachProgram) {
  model::JobSpec spec = jobOf(3);
  spec.programs = {{.command = {"./train"}, .num_instances = 2, .environment = {{"ROLE", "trainer"}}},
                   {.command = {"./eval"}, .num_instances = 1, .working_directory = "/eval"}};
  const std::string text = explained(spec);
  EXPECT_THAT(text, HasSubstr("program of instances 0-1: ./train\n"
                              "program of instance 2: ./eval (in /eval)\n"));
  EXPECT_THAT(text, HasSubstr("ROLE=trainer\ninstance 2")) << "of its own program's instances only";
  EXPECT_THAT(text, Not(HasSubstr("all instances:\n    ROLE")));
}

TEST(ExplainPlan, NamesPortsByHost) {
  model::JobSpec spec = jobOf(4);
  spec.hosts = {{"node1"}, {"node2"}};
  const std::string text = explained(spec);
  EXPECT_THAT(text, HasSubstr("<tf cluster>: {\"worker\":[\"<address of node1>:<free port 1 of node1>\""));
  EXPECT_THAT(text, HasSubstr("MASTER_PORT=<free port 3 of node1>\n"));
  EXPECT_THAT(text, HasSubstr("instance 3 on node2: replica 3"));
  EXPECT_THAT(text, HasSubstr("HOROVOD_HOSTNAME=node2"));
}

TEST(ExplainPlan, SaysWhatEachInstanceIsBoundTo) {
  const model::CpuSet first = model::CpuSet::parse("0-3").value();
  const model::CpuSet node = model::CpuSet::parse("1").value();
  const HostBindings bindings{
      model::Bindings{{{first, node, 4, "memory node 1 of 2"}, {.threads = 2, .reason = "asked for"}},
                      {"half of the cores are idle"}}};
  const std::string text = explained(jobOf(2), bindings);
  EXPECT_THAT(text, HasSubstr("    cpus 0-3, memory node 1 (memory node 1 of 2), 4 threads\n"));
  EXPECT_THAT(text, HasSubstr("    not bound (asked for), 2 threads\n"));
  EXPECT_THAT(text, HasSubstr("warnings:\n    half of the cores are idle\n"));
  EXPECT_THAT(text, Not(HasSubstr("decided on the host")));
}

TEST(ExplainPlan, SaysOfWhichHostsItKnowsNoTopology) {
  model::JobSpec spec = jobOf(2);
  spec.hosts = {{"localhost"}, {"node2"}};
  const std::string text = explained(spec, {model::Bindings{{{.threads = 1}}, {}}, std::nullopt});
  EXPECT_THAT(text, HasSubstr("CPUs and memory on node2: decided on the host"));
  EXPECT_THAT(text, Not(HasSubstr("CPUs and memory on localhost")));
}

TEST(ExplainPlan, ShowsOnlyTheFamiliesThatAreWanted) {
  model::JobSpec spec = jobOf(2);
  spec.env_families = {contract::EnvFamily::kJax};
  const std::string text = explained(spec);
  EXPECT_THAT(text, HasSubstr("environment for jax: --env-for"));
  EXPECT_THAT(text, HasSubstr("JAX_COORDINATOR_ADDRESS=<address of localhost>:<free port 1>\n"));
  EXPECT_THAT(text, Not(HasSubstr("TF_CONFIG")));
  EXPECT_THAT(text, Not(HasSubstr("tf cluster")));
}

TEST(ExplainPlan, DoesNotRefuseForTheLengthOfPlaceholders) {
  model::JobSpec spec = jobOf(7000);
  spec.system = "";
  EXPECT_TRUE(explainPlan(spec).ok());
}

TEST(ExplainPlan, RefusesWhatCouldNotBeStarted) {
  model::JobSpec spec = jobOf(1);
  spec.environment = {{"LONG", std::string(128UL * 1024, 'x')}};
  EXPECT_EQ(explainPlan(spec).code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace pop
