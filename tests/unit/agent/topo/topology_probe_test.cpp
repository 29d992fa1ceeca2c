// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/topology_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/base/heartbeat.h"
#include "tests/testing/temp_dir.h"

namespace pop::model {

inline void PrintTo(TopologyDetail detail, std::ostream* out) {
  constexpr const char* kNames[] = {"CPUs", "nodes", "cores"};
  *out << kNames[static_cast<int>(detail)];
}

}  // namespace pop::model

namespace pop::agent {
namespace {

using model::CpuSet;
using model::HostTopology;
using model::TopologyDetail;
using ::testing::HasSubstr;

Result<HostTopology> probe(TopologyDetail detail) {
  return probeTopology(detail, POP_TOPOLOGY_PROGRAM);
}

class ThisHost : public ::testing::TestWithParam<TopologyDetail> {};

TEST_P(ThisHost, HasTheCpusThatTasksetLeaves) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  std::size_t last = 0;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) last = CPU_ISSET(cpu, &before) ? cpu : last;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  Result<HostTopology> topology = probe(GetParam());
  ::sched_setaffinity(0, sizeof(before), &before);
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  EXPECT_EQ(topology->allowed, CpuSet({static_cast<int>(last)}));
  CpuSet in_nodes;
  for (const model::MemoryNode& node : topology->nodes) in_nodes = in_nodes | node.cpus;
  EXPECT_EQ(in_nodes, topology->allowed);
  EXPECT_EQ(topology->cores.size(), GetParam() == TopologyDetail::kCores ? 1U : 0U);
}

INSTANTIATE_TEST_SUITE_P(EachDetail, ThisHost,
                         ::testing::Values(TopologyDetail::kCpus, TopologyDetail::kNodes,
                                           TopologyDetail::kCores));

TEST(ThisHostsProbe, RefusesToPlaceOnAnotherMachine) {
  ::setenv("HWLOC_SYNTHETIC", "pack:2 numa:2 core:64 pu:1", 1);
  const Result<HostTopology> topology = probe(TopologyDetail::kCores);
  ::unsetenv("HWLOC_SYNTHETIC");
  EXPECT_EQ(topology.code(), Code::kFailedPrecondition);
  EXPECT_THAT(topology.status().message(), HasSubstr("HWLOC_SYNTHETIC"));
}

TEST(ThisHostsProbe, NamesTheProgramThatIsMissingAndTheWayAround) {
  const Result<HostTopology> topology = probeTopology(TopologyDetail::kCores, "/nowhere/popdist-topology");
  EXPECT_EQ(topology.code(), Code::kFailedPrecondition);
  EXPECT_THAT(topology.status().message(),
              HasSubstr("/nowhere/popdist-topology is not there: install poprun"));
  EXPECT_THAT(topology.status().message(), HasSubstr("--process-placement disabled"));
}

TEST(ThisHostsProbe, AsksNobodyForCpusAlone) {
  EXPECT_TRUE(probeTopology(TopologyDetail::kCpus, "/nowhere/popdist-topology").ok());
}

TEST(ThisHostsProbe, DoesNotBelieveAProgramThatSaysSomethingElse) {
  const Result<HostTopology> topology = probeTopology(TopologyDetail::kCores, "/bin/echo");
  EXPECT_THAT(topology.status().message(), HasSubstr("'cores' is not a line of a topology"));
}

// An agent stands still meanwhile, and is given up for that: its own words must come first.
TEST(ThisHostsProbe, GivesUpASlowProgramBeforeItsAgentIsGivenUp) {
  const testing::TempDir directory;
  const std::string program = directory.path() + "/slow";
  std::ofstream(program) << "#!/bin/sh\nexec sleep 1000\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Result<HostTopology> topology = probeTopology(TopologyDetail::kCores, program);
  EXPECT_GT(LinkTimes{}.silence, std::chrono::milliseconds(4000));
  EXPECT_EQ(topology.code(), Code::kFailedPrecondition);
  EXPECT_THAT(topology.status().message(), HasSubstr("slow has not answered within 4000 ms"));
}

}  // namespace
}  // namespace pop::agent
