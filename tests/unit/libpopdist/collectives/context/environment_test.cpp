// SPDX-License-Identifier: Apache-2.0
// What the free functions say in every kind of environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "popdist/popdist.hpp"
#include "tests/unit/libpopdist/collectives/context/fresh_process.h"

namespace popdist {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Everything that can be asked without other instances.
std::string everything() {
  std::string text = isPopdistEnvSet() ? "set" : "not set";
  const auto add = [&text](const char* name, int value) {
    text += ", " + (name + (' ' + std::to_string(value)));
  };
  add("total", getNumTotalReplicas());
  add("local", getNumLocalReplicas());
  add("offset", getReplicaIndexOffset());
  add("ipus", getNumIpusPerReplica());
  add("local instance", getLocalInstanceIndex());
  add("instance", getInstanceIndex());
  add("instances", getNumInstances());
  return text;
}

TEST(Environment, WithoutPoprunIsOneInstanceWithOneReplica) {
  EXPECT_EQ(inFreshProcess({}, everything),
            "not set, total 1, local 1, offset 0, ipus 1, local instance 0, instance 0, instances 1");
}

TEST(Environment, OfPopRunIsEnoughToKnowTheInstances) {
  EXPECT_EQ(inFreshProcess(poprunVariables(4, 4, 2, 2), everything),
            "set, total 16, local 4, offset 8, ipus 2, local instance 2, instance 2, instances 4");
}

TEST(Environment, OfPopRunOnSeveralHostsCountsInstancesThroughAll) {
  Variables variables = poprunVariables(8, 2, 1, 7);
  variables["POPDIST_LOCAL_INSTANCE_INDEX"] = "3";  // the fourth of the second host
  EXPECT_EQ(inFreshProcess(variables, everything),
            "set, total 16, local 2, offset 14, ipus 1, local instance 3, instance 7, instances 8");
}

TEST(Environment, WithUnevenReplicasDoesNotSayTheInstance) {
  Variables variables = poprunVariables(2, 3, 1, 1);
  variables["POPDIST_UNIFORM_REPLICAS_PER_INSTANCE"] = "0";
  for (auto* question : {getInstanceIndex, getNumInstances}) {
    EXPECT_THAT(inFreshProcess(variables, [&] { return std::to_string(question()); }),
                AllOf(StartsWith("error 9: get"), HasSubstr("POPDIST_UNIFORM_REPLICAS_PER_INSTANCE=0")));
  }
  EXPECT_EQ(inFreshProcess(variables, [] { return std::to_string(getReplicaIndexOffset()); }), "3");
}

TEST(Environment, ThatNamesTheInstanceNeedsNoEvenReplicas) {
  Variables variables = poprunVariables(1, 3, 1, 0);
  variables.merge(Variables{{"POPDIST_NUM_INSTANCES", "2"}, {"POPDIST_INSTANCE_INDEX", "1"}});
  variables["POPDIST_UNIFORM_REPLICAS_PER_INSTANCE"] = "0";
  variables["POPDIST_NUM_TOTAL_REPLICAS"] = "5";
  variables["POPDIST_REPLICA_INDEX_OFFSET"] = "2";
  EXPECT_THAT(inFreshProcess(variables, everything), HasSubstr("instance 1, instances 2"));
}

TEST(Environment, ChecksTheNumberOfIpusPerReplica) {
  const auto check = [](int ipus) {
    return inFreshProcess(poprunVariables(2, 2, 4, 0),
                          [ipus] { return std::string(checkNumIpusPerReplica(ipus) ? "yes" : "no"); });
  };
  EXPECT_EQ(check(4), "yes");
  EXPECT_EQ(check(2), "no");
}

struct Contradiction {
  const char* name;
  Variables changes;
  const char* names;  ///< the variable that the message must name
};

void PrintTo(const Contradiction& contradiction, std::ostream* out) {
  *out << contradiction.name;
}

class Contradictions : public ::testing::TestWithParam<Contradiction> {};

TEST_P(Contradictions, AreInvalidForEveryFunction) {
  Variables variables = poprunVariables(2, 2, 1, 0);
  for (const auto& [name, value] : GetParam().changes) variables[name] = value;
  const auto expected = AllOf(StartsWith("error 3: "), HasSubstr(GetParam().names));
  EXPECT_THAT(inFreshProcess(variables, everything), expected);
  EXPECT_THAT(inFreshProcess(variables, [] { return std::to_string(getDeviceId()); }), expected);
  EXPECT_THAT(
      inFreshProcess(variables, [] { return std::to_string(Context::fromEnvironment().numInstances()); }),
      expected);
  EXPECT_THAT(inFreshProcess(variables, [] { return initializeBackend(), std::string("initialised"); }),
              expected);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Contradictions,
    ::testing::Values(
        Contradiction{"NotANumber", {{"POPDIST_NUM_LOCAL_REPLICAS", "two"}}, "POPDIST_NUM_LOCAL_REPLICAS"},
        Contradiction{"Zero", {{"POPDIST_NUM_TOTAL_REPLICAS", "0"}}, "POPDIST_NUM_TOTAL_REPLICAS"},
        Contradiction{
            "TooManyReplicas", {{"POPDIST_REPLICA_INDEX_OFFSET", "3"}}, "POPDIST_NUM_TOTAL_REPLICAS"},
        Contradiction{"InstanceTooLarge",
                      {{"POPDIST_INSTANCE_INDEX", "2"}, {"POPDIST_NUM_INSTANCES", "2"}},
                      "POPDIST_INSTANCE_INDEX=2"},
        Contradiction{"NoInstructionSet", {{"POPDIST_SIMD", "mmx"}}, "POPDIST_SIMD=mmx"},
        Contradiction{"NotAFlag", {{"POPDIST_OFFLINE_MODE", "perhaps"}}, "POPDIST_OFFLINE_MODE"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(Environment, OfSeveralInstancesWithoutAnAgentIsNoContext) {
  Variables uneven = poprunVariables(2, 3, 1, 1);  // does not even say how many instances there are
  uneven["POPDIST_UNIFORM_REPLICAS_PER_INSTANCE"] = "0";
  for (const Variables& variables : {poprunVariables(4, 1, 1, 1), uneven}) {
    EXPECT_THAT(
        inFreshProcess(variables, [] { return std::to_string(Context::fromEnvironment().numInstances()); }),
        AllOf(StartsWith("error 9: "), HasSubstr("several instances or replicas but names no agent"),
              HasSubstr("poprun")));
  }
}

TEST(Environment, WithTheSocketOfAnAgentThatIsGoneSaysSo) {
  Variables variables = poprunVariables(2, 1, 1, 0);
  variables["POPDIST_AGENT_SOCKET"] = "popdist-no-such-agent";
  EXPECT_THAT(
      inFreshProcess(variables, [] { return std::to_string(Context::fromEnvironment().numInstances()); }),
      AllOf(StartsWith("error 14: "), HasSubstr("poprun")));
}

TEST(Environment, CanBeAskedAgainAfterAnError) {
  EXPECT_EQ(inFreshProcess({{"POPDIST_NUM_TOTAL_REPLICAS", "none"}},
                           [] {
                             EXPECT_THROW(getNumTotalReplicas(), popdist_error);
                             ::setenv("POPDIST_NUM_TOTAL_REPLICAS", "1", 1);
                             return std::to_string(getNumTotalReplicas());
                           }),
            "1");
}

// ---- ranks of other launchers

struct Launched {
  const char* name;
  Variables variables;
  const char* said = nullptr;  ///< by the refusal; nullptr: it is no foreign rank
};

void PrintTo(const Launched& launched, std::ostream* out) {
  *out << launched.name;
}

class LaunchedByOthers : public ::testing::TestWithParam<Launched> {};

// Each question in a process of its own, with nothing else of a launcher in its environment.
std::vector<std::string> answers(Variables variables) {
  for (const char* const each : {"TF_CONFIG", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_NTASKS"})
    variables.try_emplace(each, "");
  return {inFreshProcess(variables, everything),
          inFreshProcess(variables, [] { return std::to_string(Context::fromEnvironment().numInstances()); }),
          inFreshProcess(variables, [] { return std::to_string(train::contextFor()->numInstances()); }),
          inFreshProcess(variables, [] { return std::to_string(hvd::init()->numInstances()); })};
}

TEST_P(LaunchedByOthers, AreRefusedByNameOrRunAlone) {
  for (const std::string& answer : answers(GetParam().variables)) {
    if (GetParam().said == nullptr) {
      EXPECT_THAT(answer, ::testing::Not(StartsWith("error")));
    } else {
      EXPECT_THAT(answer, AllOf(StartsWith("error 9: "), HasSubstr(GetParam().said), HasSubstr("poprun"),
                                HasSubstr("TF_CONFIG"), HasSubstr("resolver")));
    }
  }
}

Launched slurm(const char* name, const Variables& more, const char* said = nullptr) {
  Variables variables{{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}};
  for (const auto& [variable, value] : more) variables[variable] = value;
  return {name, variables, said};
}

INSTANTIATE_TEST_SUITE_P(
    Ranks, LaunchedByOthers,
    ::testing::Values(
        Launched{"mpirun",
                 {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
                 "mpirun of Open MPI started this process as rank 1 of 2"},
        Launched{"hydra", {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, "rank 0 of 2 (PMI_RANK, PMI_SIZE)"},
        Launched{"mvapich", {{"MV2_COMM_WORLD_RANK", "3"}, {"MV2_COMM_WORLD_SIZE", "4"}}, "rank 3 of 4"},
        Launched{"flux", {{"FLUX_TASK_RANK", "1"}, {"FLUX_JOB_SIZE", "2"}}, "Flux"},
        Launched{"torchrun",
                 {{"RANK", "1"},
                  {"WORLD_SIZE", "2"},
                  {"MASTER_ADDR", "localhost"},
                  {"MASTER_PORT", "29500"},
                  {"TORCHELASTIC_RUN_ID", "none"}},
                 "torchrun started this process as rank 1 of 2"},
        Launched{
            "pytorch_job",
            {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "job-master-0"}, {"MASTER_PORT", "23456"}},
            "rank 0 of 2 (RANK, WORLD_SIZE)"},
        Launched{"pmix", {{"PMIX_NAMESPACE", "prterun-h-1@1"}, {"PMIX_RANK", "1"}}, "rank 1 of several"},
        Launched{"pals",
                 {{"PALS_RANKID", "1"}, {"PALS_NODEID", "0"}},
                 "mpiexec (PALS) started this process as rank 1"},
        Launched{"aprun", {{"ALPS_APP_PE", "3"}}, "rank 3 of several"},
        Launched{"torchrun_in_mpirun_of_one",
                 {{"OMPI_COMM_WORLD_RANK", "0"},
                  {"OMPI_COMM_WORLD_SIZE", "1"},
                  {"RANK", "0"},
                  {"WORLD_SIZE", "2"},
                  {"LOCAL_RANK", "0"}},
                 "rank 0 of 2"},
        slurm("srun", {{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}},
              "srun started this process as rank 0 of 2"),
        slurm("srun_of_all", {{"SLURM_STEP_ID", "3"}, {"SLURM_PROCID", "3"}}, "rank 3 of 4"),
        slurm("a_later_task_without_a_step", {{"SLURM_PROCID", "1"}}, "rank 1 of 4")));

INSTANTIATE_TEST_SUITE_P(
    Single, LaunchedByOthers,
    ::testing::Values(
        Launched{"mpirun", {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}},
        Launched{"hydra", {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}},
        Launched{"names_of_anybody", {{"RANK", "1"}, {"WORLD_SIZE", "2"}}},
        Launched{"no_numbers", {{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "2"}}},
        Launched{"pmix", {{"PMIX_NAMESPACE", "prterun-h-1@1"}, {"PMIX_RANK", "0"}}},
        Launched{"alone_by_wish",
                 {{"OMPI_COMM_WORLD_RANK", "1"},
                  {"OMPI_COMM_WORLD_SIZE", "2"},
                  {"POPDIST_NUM_TOTAL_REPLICAS", "1"}}},
        slurm("batch_script", {}),
        slurm("batch_script_with_a_step_number", {{"SLURM_STEP_ID", "4294967291"}}),
        slurm("shell_of_salloc", {{"SLURM_STEP_ID", "4294967290"}, {"SLURM_STEP_NUM_TASKS", "1"}}),
        slurm("shell_of_srun",
              {{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PTY_PORT", "4711"}}),
        slurm("srun_of_one", {{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}),
        slurm("mpirun_of_one_on_a_node_of_slurm", {{"SLURM_STEP_ID", "0"},
                                                   {"SLURM_STEP_NUM_TASKS", "2"},
                                                   {"SLURM_PROCID", "1"},
                                                   {"OMPI_COMM_WORLD_RANK", "0"},
                                                   {"OMPI_COMM_WORLD_SIZE", "1"}})));

// poprun sets them for its own instances; a list of addresses says who the others are.
TEST(Environment, OfAnInstanceOrAClusterDoesNotAskWhoElseLaunches) {
  Variables variables = poprunVariables(2, 1, 1, 1);
  variables.merge(Variables{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  EXPECT_THAT(inFreshProcess(variables, everything), HasSubstr("instance 1, instances 2"));
  Variables by_hand{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
  by_hand["TF_CONFIG"] = R"({"cluster":{"worker":["a:1","b:1"]},"task":{"type":"worker","index":1}})";
  EXPECT_EQ(inFreshProcess(by_hand, [] { return std::to_string(train::resolveCluster().size()); }), "2");
}

}  // namespace
}  // namespace popdist
