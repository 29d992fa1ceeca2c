// SPDX-License-Identifier: Apache-2.0
// Each family of variables as its framework reads it: scripts that follow the framework's own rules
// (tests/testing/readers) are the instances. They must accept what poprun sets, and notice what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

struct Reading {
  int exit_code = 0;
  Words lines;  ///< sorted
  std::string err;
};

Reading readBy(const std::string& reader, Words options,
               std::map<std::string, std::string> environment = {}) {
  options.insert(options.end(), {"--tag-output", "no", POP_PYTHON3, "-B",
                                 POP_SOURCE_DIR "/tests/testing/readers/" + reader + ".py"});
  const Outcome outcome = run({.options = std::move(options), .environment = std::move(environment)});
  Reading reading{outcome.exit_code, linesOf(outcome.out), outcome.err};
  std::sort(reading.lines.begin(), reading.lines.end());
  return reading;
}

TEST(Readers, OfPyTorchMeetAtTheMasterPort) {
  const Reading reading = readBy("pytorch", {"--num-instances", "3"});
  EXPECT_THAT(reading.lines, ElementsAre("pytorch 0 of 3, local 0 of 3", "pytorch 1 of 3, local 1 of 3",
                                         "pytorch 2 of 3, local 2 of 3"))
      << reading.err;
}

TEST(Readers, OfTensorFlowAreWorkers) {
  const Reading reading = readBy("tensorflow", {"--num-instances", "2"});
  EXPECT_THAT(reading.lines, ElementsAre("worker 0, 0 of 2", "worker 1, 1 of 2")) << reading.err;
}

TEST(Readers, OfTensorFlowAreChiefAndEvaluatorWhenAskedFor) {
  const Reading reading =
      readBy("tensorflow", {"--num-instances", "4", "--tf-config-tasks", "chief,evaluator"});
  EXPECT_THAT(reading.lines,
              ElementsAre("chief 0, 0 of 3", "evaluator beside 3", "worker 0, 1 of 3", "worker 1, 2 of 3"))
      << reading.err;
}

TEST(Readers, OfHorovodMeetWhereInstanceZeroServesTheRendezvous) {
  const Reading reading = readBy("horovod", {"--num-instances", "2"});
  EXPECT_THAT(reading.lines, ElementsAre("horovod 0 of 2, local 0 of 2, cross 0 of 1",
                                         "horovod 1 of 2, local 1 of 2, cross 0 of 1"))
      << reading.err;
}

TEST(Readers, OfJaxMeetAtTheCoordinator) {
  const Reading reading = readBy("jax", {"--num-instances", "2"});
  EXPECT_THAT(reading.lines, ElementsAre("jax 0 of 2", "jax 1 of 2")) << reading.err;
}

TEST(Readers, OfOpenMpisVariablesFindTheirRanks) {
  const Reading reading = readBy("openmpi", {"--num-instances", "2"});
  EXPECT_THAT(reading.lines, ElementsAre("openmpi 0 of 2, local 0 of 2", "openmpi 1 of 2, local 1 of 2"))
      << reading.err;
}

TEST(Readers, OfSlurmsVariablesFindTheirIds) {
  const Reading reading = readBy("slurm", {"--num-instances", "2"});
  EXPECT_THAT(reading.lines,
              ElementsAre("slurm 0 of 2, local 0, node 0 of 1", "slurm 1 of 2, local 1, node 0 of 1"))
      << reading.err;
}

TEST(Readers, OfPoplarsVariablesFindTheirTarget) {
  const Reading reading =
      readBy("poplar", {"--num-instances", "2", "--num-replicas", "4", "--ipus-per-replica", "2"});
  EXPECT_THAT(reading.lines, ElementsAre("poplar 0 of 2, instance of 4 in a domain of 8, log WARN",
                                         "poplar 1 of 2, instance of 4 in a domain of 8, log WARN"))
      << reading.err;
}

TEST(Readers, OfPoplarsVariablesFindWhatTheUserHasSetBefore) {
  const Reading reading =
      readBy("poplar", {},
             {{"IPUOF_LOG_LEVEL", "DEBUG"}, {"POPLAR_TARGET_OPTIONS", R"({"ipuLinkDomainSize": "64"})"}});
  EXPECT_THAT(reading.lines, ElementsAre("poplar 0 of 1, instance of 1 in a domain of 64, log DEBUG"))
      << reading.err;
}

// A reader that accepts anything would prove nothing; and the user's own value is what a program gets.
struct Spoilt {
  const char* reader;
  const char* variable;

  friend void PrintTo(const Spoilt& spoilt, std::ostream* out) {
    *out << spoilt.variable << " of " << spoilt.reader;
  }
};
class SpoiltVariable : public ::testing::TestWithParam<Spoilt> {};

TEST_P(SpoiltVariable, IsNoticedByTheReader) {
  const Reading reading = readBy(GetParam().reader, {"--num-instances", "2", "-x", GetParam().variable});
  EXPECT_NE(reading.exit_code, 0) << GetParam().variable;
  EXPECT_THAT(reading.err, HasSubstr("Error")) << "Python says which";
}

INSTANTIATE_TEST_SUITE_P(
    OfEachFamily, SpoiltVariable,
    ::testing::Values(Spoilt{"pytorch", "RANK=2"}, Spoilt{"pytorch", "WORLD_SIZE="},
                      Spoilt{
                          "tensorflow",
                          R"(TF_CONFIG={"cluster":{"worker":["a:1"]},"task":{"type":"worker","index":1}})"},
                      Spoilt{"horovod", "HOROVOD_CROSS_SIZE=2"}, Spoilt{"jax", "OMPI_VERSION=5.0.1"},
                      Spoilt{"openmpi", "OMPI_COMM_WORLD_NODE_RANK=7"}, Spoilt{"slurm", "SLURM_NTASKS=1"},
                      Spoilt{"poplar", R"(POPLAR_TARGET_OPTIONS={"instanceSize":3})"}),
    [](const auto& each) {
      const std::string variable = each.param.variable;
      return std::string(each.param.reader) + "_" + variable.substr(0, variable.find('='));
    });

}  // namespace
}  // namespace pop::testing
