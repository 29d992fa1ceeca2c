// SPDX-License-Identifier: Apache-2.0
// Each framework's variables in an instance's environment, and the winner when several set a variable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/contract/env_frameworks.h"
#include "tests/unit/common/contract/env_samples.h"

namespace pop::contract {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

// Instance 3 of 4, the second on the second of two hosts, with replicas 6 and 7 of 8.
struct Sample {
  InstanceEnv env{.num_total_replicas = 8,
                  .num_ipus_per_replica = 2,
                  .num_local_replicas = 2,
                  .replica_index_offset = 6,
                  .num_instances = 4,
                  .instance_index = 3,
                  .num_local_instances = 2,
                  .local_instance_index = 1,
                  .job_id = "4f2a",
                  .restart_count = 2};
  InstancePlace place{
      .host_name = "node2", .host_index = 1, .num_hosts = 2, .cross_rank = 1, .cross_size = 2};
  Rendezvous rendezvous{.tf_cluster = R"({"worker":["a:1","b:2","c:3","d:4"]})",
                        .master_address = "10.0.0.1",
                        .master_port = "10003",
                        .jax_port = "10004",
                        .horovod_port = "10005"};
  PoplarTarget poplar{.ild_ipus = 16};
  EnvFamilies families = allEnvFamilies();
  std::vector<Variable> job;
  std::vector<Variable> program;

  Result<std::vector<Variable>> rendered() const {
    return renderEnvironment({env, place, rendezvous, poplar, families, job, program});
  }
  Environment environment() const {
    const Result<std::vector<Variable>> variables = rendered();
    EXPECT_TRUE(variables.ok()) << variables.status().message();
    return variables.ok() ? toEnvironment(variables.value()) : Environment();
  }
};

Environment onlyFamily(EnvFamily family) {
  Sample with{.families = {family}};
  Environment found = with.environment();
  with.families = {};
  for (const auto& [name, value] : with.environment()) found.erase(name);
  return found;
}

TEST(FrameworkVariables, OfPyTorchAreThoseOfTorchrun) {
  EXPECT_EQ(onlyFamily(EnvFamily::kPyTorch), (Environment{{"RANK", "3"},
                                                          {"WORLD_SIZE", "4"},
                                                          {"LOCAL_RANK", "1"},
                                                          {"LOCAL_WORLD_SIZE", "2"},
                                                          {"MASTER_ADDR", "10.0.0.1"},
                                                          {"MASTER_PORT", "10003"},
                                                          {"GROUP_RANK", "1"},
                                                          {"GROUP_WORLD_SIZE", "2"},
                                                          {"ROLE_NAME", "default"},
                                                          {"ROLE_RANK", "3"},
                                                          {"ROLE_WORLD_SIZE", "4"},
                                                          {"TORCHELASTIC_RUN_ID", "4f2a"},
                                                          {"TORCHELASTIC_RESTART_COUNT", "2"},
                                                          {"TORCHELASTIC_USE_AGENT_STORE", "False"}}));
}

TEST(FrameworkVariables, OfHorovodAreThoseOfHorovodrun) {
  EXPECT_EQ(onlyFamily(EnvFamily::kHorovod), (Environment{{"HOROVOD_RANK", "3"},
                                                          {"HOROVOD_SIZE", "4"},
                                                          {"HOROVOD_LOCAL_RANK", "1"},
                                                          {"HOROVOD_LOCAL_SIZE", "2"},
                                                          {"HOROVOD_CROSS_RANK", "1"},
                                                          {"HOROVOD_CROSS_SIZE", "2"},
                                                          {"HOROVOD_HOSTNAME", "node2"},
                                                          {"HOROVOD_CONTROLLER", "gloo"},
                                                          {"HOROVOD_CPU_OPERATIONS", "gloo"},
                                                          {"HOROVOD_GLOO_RENDEZVOUS_ADDR", "10.0.0.1"},
                                                          {"HOROVOD_GLOO_RENDEZVOUS_PORT", "10005"}}));
}

TEST(FrameworkVariables, OfJaxNameTheCoordinator) {
  EXPECT_EQ(onlyFamily(EnvFamily::kJax), (Environment{{"JAX_COORDINATOR_ADDRESS", "10.0.0.1:10004"},
                                                      {"JAX_NUM_PROCESSES", "4"},
                                                      {"JAX_PROCESS_ID", "3"}}));
}

TEST(FrameworkVariables, OfJaxPutAnIpv6AddressInBrackets) {
  Sample sample;
  sample.rendezvous.master_address = "fe80::1";
  EXPECT_EQ(sample.environment().at("JAX_COORDINATOR_ADDRESS"), "[fe80::1]:10004");
  EXPECT_EQ(sample.environment().at("MASTER_ADDR"), "fe80::1");
  EXPECT_EQ(endpoint("[fe80::1]", "1"), "[fe80::1]:1");
}

TEST(FrameworkVariables, OfOpenMpiCountTheNodeRankOnTheNode) {
  EXPECT_EQ(onlyFamily(EnvFamily::kOpenMpi), (Environment{{"OMPI_COMM_WORLD_RANK", "3"},
                                                          {"OMPI_COMM_WORLD_SIZE", "4"},
                                                          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                                          {"OMPI_COMM_WORLD_NODE_RANK", "1"},
                                                          {"OMPI_UNIVERSE_SIZE", "4"},
                                                          {"OMPI_VERSION", "4"}}));
}

TEST(FrameworkVariables, OfSlurmNameNoJobThatProgramsCouldAskSlurmFor) {
  EXPECT_EQ(onlyFamily(EnvFamily::kSlurm), (Environment{{"SLURM_PROCID", "3"},
                                                        {"SLURM_LOCALID", "1"},
                                                        {"SLURM_NTASKS", "4"},
                                                        {"SLURM_NPROCS", "4"},
                                                        {"SLURM_NODEID", "1"},
                                                        {"SLURM_NNODES", "2"}}));
}

TEST(FrameworkVariables, OfPmixNameTheServerOfThisHostWhereThereIsOne) {
  EXPECT_EQ(onlyFamily(EnvFamily::kPmix), Environment());
  Sample sample{.families = {EnvFamily::kPmix}};
  sample.rendezvous.pmix_port = "41234";
  const Environment environment = sample.environment();
  EXPECT_EQ(environment.at("PMIX_NAMESPACE"), "poprun-4f2a");
  EXPECT_EQ(environment.at("PMIX_RANK"), "3");
  EXPECT_EQ(environment.at("PMIX_SERVER_URI4"), "poprun-server-4f2a.0;tcp4://127.0.0.1:41234");
}

TEST(FrameworkVariables, OfPmixNameTheWayToTheOtherInstances) {
  Sample sample{.families = {EnvFamily::kPmix}};
  sample.rendezvous.pmix_port = "41234";
  sample.rendezvous.own_address = "10.0.0.7";
  EXPECT_EQ(sample.environment().at("OMPI_MCA_btl_tcp_if_include"), "10.0.0.7/31");
  EXPECT_FALSE(sample.environment().contains("OMPI_MCA_pml"));
  sample.place.num_hosts = 1;
  EXPECT_FALSE(sample.environment().contains("OMPI_MCA_btl_tcp_if_include"));
  EXPECT_EQ(sample.environment().at("OMPI_MCA_pml"), "ob1") << "shared memory";
  sample.job = {{"OMPI_MCA_pml", "ucx"}};
  EXPECT_EQ(sample.environment().at("OMPI_MCA_pml"), "ucx");
}

// Open MPI uses no network at all if it is told both which to use and which to leave out.
TEST(FrameworkVariables, OfPmixNameNoNetworkToAUserWhoExcludesSome) {
  Sample sample{.families = {EnvFamily::kPmix}};
  sample.rendezvous.pmix_port = "41234";
  sample.job = {{"OMPI_MCA_btl_tcp_if_exclude", "lo,docker0"}};
  EXPECT_FALSE(sample.environment().contains("OMPI_MCA_btl_tcp_if_include"));
  EXPECT_TRUE(sample.environment().contains("OMPI_MCA_oob_tcp_if_include"));
  sample.job.clear();
  sample.program = {{"OMPI_MCA_oob_tcp_if_exclude", "docker0"}};
  EXPECT_FALSE(sample.environment().contains("OMPI_MCA_oob_tcp_if_include"));
  EXPECT_TRUE(sample.environment().contains("OMPI_MCA_btl_tcp_if_include"));
}

TEST(FrameworkVariables, OfPoplarAreThoseOfPopRunWithoutAPartition) {
  EXPECT_EQ(
      onlyFamily(EnvFamily::kPoplar),
      (Environment{{"IPUOF_LOG_LEVEL", "WARN"},
                   {"POPLAR_TARGET_OPTIONS",
                    R"({"ipuLinkDomainSize":"16","ipuLinkConfiguration":"default","ipuLinkTopology":"mesh",)"
                    R"("gatewayMode":"true","instanceSize":"4"})"}}));
}

TEST(FrameworkVariables, OfPoplarNameThePartitionAndTheInstancesGcd) {
  const Sample sample{.poplar = {.ild_ipus = 64,
                                 .partition = "p64",
                                 .server_host = "vipu",
                                 .server_port = 8090,
                                 .server_timeout_seconds = 120}};
  const Environment environment = sample.environment();
  EXPECT_EQ(environment.at("IPUOF_VIPU_API_HOST"), "vipu");
  EXPECT_EQ(environment.at("IPUOF_VIPU_API_PORT"), "8090");
  EXPECT_EQ(environment.at("IPUOF_VIPU_API_PARTITION_ID"), "p64");
  EXPECT_EQ(environment.at("IPUOF_VIPU_API_TIMEOUT"), "120");
  EXPECT_EQ(environment.at("IPUOF_VIPU_API_GCD_ID"), "3");
  EXPECT_EQ(environment.at("POPLAR_TARGET_OPTIONS"),
            R"({"ipuLinkDomainSize":"64","ipuLinkConfiguration":"slidingWindow","ipuLinkTopology":"torus",)"
            R"("gatewayMode":"true","instanceSize":"4"})");
}

TEST(FrameworkVariables, OfPoplarSlideNoWindowOverLargeReplicas) {
  Sample sample{.poplar = {.ild_ipus = 64}};
  for (const auto& [ipus, configuration] : {std::pair{4, "slidingWindow"}, {8, "default"}}) {
    sample.env.num_ipus_per_replica = ipus;
    EXPECT_THAT(sample.environment().at("POPLAR_TARGET_OPTIONS"),
                HasSubstr(std::string(R"("ipuLinkConfiguration":")") + configuration +
                          R"(","ipuLinkTopology":"torus")"))
        << ipus;
  }
}

TEST(FrameworkVariables, OfNoWantedFamilyAreNone) {
  const Sample sample{.families = {}};
  EXPECT_EQ(sample.rendered().value(), render(sample.env));
}

std::string taskOf(int instance, int instances, bool chief, bool evaluator) {
  Sample sample{.families = {EnvFamily::kTensorFlow}};
  sample.env.num_instances = instances;
  sample.env.instance_index = instance;
  std::vector<std::string> addresses;
  for (int each = 0; each < instances; ++each) addresses.push_back("h:" + std::to_string(each));
  sample.rendezvous = {
      .tf_cluster = tfCluster(addresses, chief, evaluator), .tf_chief = chief, .tf_evaluator = evaluator};
  return sample.environment().at("TF_CONFIG");
}

TEST(TfConfig, OfWorkersOnly) {
  EXPECT_EQ(taskOf(1, 2, false, false),
            R"({"cluster":{"worker":["h:0","h:1"]},"task":{"type":"worker","index":1}})");
  EXPECT_EQ(taskOf(0, 1, false, false),
            R"({"cluster":{"worker":["h:0"]},"task":{"type":"worker","index":0}})");
}

TEST(TfConfig, WithAChiefCountsWorkersFromZeroBehindIt) {
  const std::string cluster = R"({"cluster":{"chief":["h:0"],"worker":["h:1","h:2"]},"task":)";
  EXPECT_EQ(taskOf(0, 3, true, false), cluster + R"({"type":"chief","index":0}})");
  EXPECT_EQ(taskOf(1, 3, true, false), cluster + R"({"type":"worker","index":0}})");
  EXPECT_EQ(taskOf(2, 3, true, false), cluster + R"({"type":"worker","index":1}})");
}

TEST(TfConfig, KeepsTheEvaluatorOutOfTheCluster) {
  const std::string cluster = R"({"cluster":{"chief":["h:0"],"worker":["h:1"]},"task":)";
  EXPECT_EQ(taskOf(1, 3, true, true), cluster + R"({"type":"worker","index":0}})");
  EXPECT_EQ(taskOf(2, 3, true, true), cluster + R"({"type":"evaluator","index":0}})");
  EXPECT_EQ(taskOf(1, 2, false, true),
            R"({"cluster":{"worker":["h:0"]},"task":{"type":"evaluator","index":0}})");
}

TEST(TfConfig, OfAChiefAloneHasNoWorkers) {
  EXPECT_EQ(taskOf(0, 1, true, false), R"({"cluster":{"chief":["h:0"]},"task":{"type":"chief","index":0}})");
}

TEST(UsersVariables, WinOverOursAndTheProgramsOverTheJobs) {
  const Sample sample{.job = {{"RANK", "job"}, {"WORLD_SIZE", "job"}, {"PATH", "/bin"}},
                      .program = {{"RANK", "program"}, {"POPDIST_SYSTEM", "mine"}}};
  EXPECT_THAT(sample.environment(),
              IsSupersetOf(Environment{
                  {"RANK", "program"}, {"WORLD_SIZE", "job"}, {"PATH", "/bin"}, {"POPDIST_SYSTEM", "mine"}}));
}

TEST(UsersVariables, AreSetOnceTheLastOneWins) {
  const Sample sample{.job = {{"A", "1"}, {"A", "2"}}, .program = {{"A", "3"}}};
  const std::vector<Variable> variables = sample.rendered().value();
  EXPECT_EQ(toEnvironment(variables).at("A"), "3");
  EXPECT_EQ(toEnvironment(variables).size(), variables.size());
}

TEST(UsersVariables, SilencePoplarsDefaultLogLevel) {
  const Sample sample{.job = {{"IPUOF_LOG_LEVEL", "TRACE"}}};
  EXPECT_EQ(sample.environment().at("IPUOF_LOG_LEVEL"), "TRACE");
}

TEST(UsersVariables, AreMergedIntoTheTargetOptions) {
  const Sample sample{.job = {{"POPLAR_TARGET_OPTIONS", R"({"ipuLinkDomainSize": "64", "x": "1"})"}},
                      .program = {{"POPLAR_TARGET_OPTIONS", R"({"x":"2"})"}}};
  EXPECT_EQ(sample.environment().at("POPLAR_TARGET_OPTIONS"),
            R"({"ipuLinkDomainSize":"64","ipuLinkConfiguration":"default","ipuLinkTopology":"mesh",)"
            R"("gatewayMode":"true","instanceSize":"4","x":"2"})");
}

TEST(UsersVariables, AreTakenAsTheyAreWhenTheFamilyIsLeftOut) {
  const Sample sample{.families = {}, .job = {{"POPLAR_TARGET_OPTIONS", "anything"}}};
  EXPECT_EQ(sample.environment().at("POPLAR_TARGET_OPTIONS"), "anything");
}

TEST(RenderedEnvironment, NamesNoVariableTwice) {
  const std::vector<Variable> variables = Sample().rendered().value();
  EXPECT_EQ(toEnvironment(variables).size(), variables.size());
}

TEST(RenderedEnvironment, RefusesAVariableThatTheKernelWouldNotPassOn) {
  Sample sample;
  sample.env.num_instances = 6000;
  sample.rendezvous.tf_cluster =
      tfCluster(std::vector<std::string>(6000, "192.168.100.100:10000"), false, false);
  const Result<std::vector<Variable>> variables = sample.rendered();
  ASSERT_FALSE(variables.ok());
  EXPECT_EQ(variables.code(), Code::kResourceExhausted);
  EXPECT_THAT(variables.status().message(), StartsWith("TF_CONFIG for 6000 instances needs 144"));
  EXPECT_THAT(variables.status().message(), HasSubstr("128 KiB"));
  EXPECT_THAT(variables.status().message(), HasSubstr("--env-for without tensorflow"));
  sample.families.erase(EnvFamily::kTensorFlow);
  EXPECT_TRUE(sample.rendered().ok());
}

TEST(RenderedEnvironment, TakesAVariableOfExactlyTheKernelsLimit) {
  // Linux counts "NAME=value" and its final zero, and takes 32 pages of it.
  constexpr std::size_t kLimitBytes = 131072;
  const std::size_t most = kLimitBytes - std::string("LONG=").size() - 1;
  Sample sample{.job = {{"LONG", std::string(most, 'x')}}};
  EXPECT_TRUE(sample.rendered().ok());
  sample.job.front().second += 'x';
  EXPECT_EQ(sample.rendered().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace pop::contract
