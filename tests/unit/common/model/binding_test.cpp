// SPDX-License-Identifier: Apache-2.0
#include "common/model/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/testing/topologies.h"

namespace pop::model {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::grid;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> cpusOf(const Bindings& bindings) {
  std::vector<std::string> texts;
  for (const Binding& binding : bindings.instances) texts.push_back(binding.cpus.text());
  return texts;
}

std::vector<std::string> memoryOf(const Bindings& bindings) {
  std::vector<std::string> texts;
  for (const Binding& binding : bindings.instances) texts.push_back(binding.memory_nodes.text());
  return texts;
}

std::vector<int> threadsOf(const Bindings& bindings) {
  std::vector<int> threads;
  for (const Binding& binding : bindings.instances) threads.push_back(binding.threads);
  return threads;
}

Bindings bound(const HostTopology& topology, const BindPolicy& policy, int num_instances) {
  Result<Bindings> bindings = bind(topology, policy, num_instances);
  EXPECT_TRUE(bindings.ok()) << bindings.status().message();
  return bindings.ok() ? bindings.value() : Bindings{};
}

CpuSet list(const char* text) {
  return CpuSet::parse(text).value();
}

TEST(SpreadNuma, GivesEachInstanceItsNodes) {
  const Bindings bindings = bound(grid(4, 4), {}, 4);
  EXPECT_THAT(cpusOf(bindings), ElementsAre("0-3", "4-7", "8-11", "12-15"));
  EXPECT_THAT(memoryOf(bindings), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(threadsOf(bindings), ElementsAre(4, 4, 4, 4));
  EXPECT_EQ(bindings.instances[1].reason, "memory node 1 of 4: --process-placement spreadnuma");
  EXPECT_THAT(bindings.warnings, IsEmpty());
}

TEST(SpreadNuma, DividesNodesUnevenlyRatherThanLeavingSome) {
  const Bindings bindings = bound(grid(4, 2), {}, 3);
  EXPECT_THAT(memoryOf(bindings), ElementsAre("0", "1", "2-3"));
  EXPECT_THAT(cpusOf(bindings), ElementsAre("0-1", "2-3", "4-7"));
}

TEST(SpreadNuma, LetsMoreInstancesThanNodesShareThemAndSaysWhatItCosts) {
  const Bindings bindings = bound(grid(2, 4), {}, 5);
  EXPECT_THAT(memoryOf(bindings), ElementsAre("0", "0", "0", "1", "1"));
  EXPECT_THAT(threadsOf(bindings), ElementsAre(1, 1, 1, 2, 2));
  EXPECT_THAT(bindings.warnings,
              ElementsAre(AllOf(HasSubstr("5 instances share 2 memory nodes"), HasSubstr("memory bandwidth"),
                                HasSubstr("at most 2 instances a host"), HasSubstr("--num-instances"))));
}

TEST(SpreadNuma, BindsNothingWhereThereIsOneNode) {
  const Bindings bindings = bound(grid(1, 8), {}, 3);
  EXPECT_THAT(cpusOf(bindings), ElementsAre("", "", ""));
  EXPECT_THAT(memoryOf(bindings), ElementsAre("", "", ""));
  EXPECT_THAT(threadsOf(bindings), ElementsAre(2, 2, 2));
  EXPECT_THAT(bindings.warnings, IsEmpty());
}

TEST(SpreadNuma, LeavesASingleInstanceTheWholeHost) {
  const Bindings bindings = bound(grid(2, 4), {}, 1);
  EXPECT_THAT(cpusOf(bindings), ElementsAre(""));
  EXPECT_THAT(threadsOf(bindings), ElementsAre(8));
}

TEST(SpreadNuma, TakesMemoryFromTheOthersWhereANodeHasNone) {
  HostTopology topology = grid(4, 2);
  topology.nodes[1].memory_bytes = 0;
  topology.nodes[3].memory_bytes = 0;
  EXPECT_THAT(memoryOf(bound(topology, {}, 4)), ElementsAre("0", "0,2", "2", "0,2"));
  EXPECT_THAT(memoryOf(bound(topology, {}, 2)), ElementsAre("0", "2"));
}

TEST(SpreadNuma, DoesNotCountMemoryWithoutCpus) {
  HostTopology topology = grid(2, 2);
  topology.nodes.push_back({.index = 2, .memory_bytes = 1});
  EXPECT_THAT(memoryOf(bound(topology, {}, 2)), ElementsAre("0", "1"));
}

TEST(SpreadCores, GivesSoManyCoresAtEvenDistances) {
  const BindPolicy policy{.mode = BindMode::kSpreadCores, .cores_per_instance = 2};
  const Bindings bindings = bound(grid(4, 4), policy, 2);
  EXPECT_THAT(cpusOf(bindings), ElementsAre("0-1", "8-9"));
  EXPECT_THAT(memoryOf(bindings), ElementsAre("0", "2"));
  EXPECT_EQ(bindings.instances[0].reason, "2 of 16 cores: --process-placement spreadcores");
}

TEST(Compact, GivesCoresOneAfterAnother) {
  const BindPolicy policy{.mode = BindMode::kCompact, .cores_per_instance = 3};
  EXPECT_THAT(cpusOf(bound(grid(4, 4), policy, 3)), ElementsAre("0-2", "3-5", "6-8"));
}

TEST(Compact, DividesAllCoresWhenNoNumberIsSaid) {
  EXPECT_THAT(cpusOf(bound(grid(2, 4), {.mode = BindMode::kCompact}, 3)), ElementsAre("0-1", "2-4", "5-7"));
}

TEST(Compact, BeginsAgainWhenCoresRunOut) {
  const BindPolicy policy{.mode = BindMode::kCompact, .cores_per_instance = 2};
  const Bindings bindings = bound(grid(1, 4), policy, 3);
  EXPECT_THAT(cpusOf(bindings), ElementsAre("0-1", "2-3", "0-1"));
  EXPECT_THAT(threadsOf(bindings), ElementsAre(1, 2, 1));
  EXPECT_THAT(bindings.warnings, ElementsAre(HasSubstr("3 instances want 6 cores and share 4")));
}

TEST(Compact, RefusesMoreCoresThanThereAre) {
  const Result<Bindings> bindings =
      bind(grid(1, 4), {.mode = BindMode::kCompact, .cores_per_instance = 5}, 1);
  EXPECT_EQ(bindings.code(), Code::kInvalidArgument);
  EXPECT_THAT(bindings.status().message(),
              AllOf(HasSubstr("--process-placement compact"), HasSubstr("5 cores"), HasSubstr("only 4")));
}

TEST(HybridCores, AreDividedKindByKind) {
  HostTopology topology = grid(1, 6);
  for (std::size_t core = 0; core < 6; ++core) topology.cores[core].efficiency = core < 2 ? 1 : 0;
  EXPECT_THAT(cpusOf(bound(topology, {.mode = BindMode::kSpreadCores}, 2)), ElementsAre("0,2-3", "1,4-5"));
  EXPECT_THAT(cpusOf(bound(topology, {.mode = BindMode::kCompact, .cores_per_instance = 1}, 2)),
              ElementsAre("0", "1"));
}

TEST(HybridCores, AreDividedInTheirOrderWhenAKindIsTooFewForAll) {
  HostTopology topology = grid(1, 6);
  topology.cores[0].efficiency = 1;
  for (std::size_t core = 1; core < 6; ++core) topology.cores[core].efficiency = 0;
  EXPECT_THAT(cpusOf(bound(topology, {.mode = BindMode::kSpreadCores}, 3)), ElementsAre("0-1", "2-3", "4-5"));
}

TEST(FastCores, AreTakenFirst) {
  HostTopology topology = grid(1, 4);  // the slow ones are numbered first, as on some processors
  for (std::size_t core = 0; core < 4; ++core) topology.cores[core].efficiency = core < 2 ? 0 : 1;
  EXPECT_THAT(cpusOf(bound(topology, {.mode = BindMode::kCompact, .cores_per_instance = 1}, 3)),
              ElementsAre("2", "3", "0"));
  EXPECT_THAT(cpusOf(bound(topology, {.mode = BindMode::kSpreadCores, .cores_per_instance = 1}, 2)),
              ElementsAre("2", "3"));
}

TEST(ExplicitList, IsObeyedAndBeginsAgain) {
  const BindPolicy policy{.mode = BindMode::kExplicit, .explicit_cpus = {list("0-1"), list("6")}};
  const Bindings bindings = bound(grid(2, 4), policy, 3);
  EXPECT_THAT(cpusOf(bindings), ElementsAre("0-1", "6", "0-1"));
  EXPECT_THAT(memoryOf(bindings), ElementsAre("0", "1", "0"));
  EXPECT_THAT(threadsOf(bindings), ElementsAre(1, 1, 1));
}

TEST(ExplicitList, NamesEveryCpuThatMayNotBeUsed) {
  const BindPolicy policy{.mode = BindMode::kExplicit, .explicit_cpus = {list("0,9"), list("12-13")}};
  const Result<Bindings> bindings = bind(grid(2, 4), policy, 2);
  EXPECT_EQ(bindings.code(), Code::kInvalidArgument);
  EXPECT_THAT(bindings.status().message(),
              AllOf(HasSubstr("--process-placement"), HasSubstr("CPU 9,12-13"), HasSubstr("may use 0-7")));
}

TEST(Disabled, BindsNothing) {
  const Bindings bindings = bound(grid(2, 4), {.mode = BindMode::kDisabled}, 16);
  EXPECT_THAT(bindings.instances, SizeIs(16));
  EXPECT_EQ(bindings.instances[3], (Binding{.threads = 1, .reason = "--process-placement disabled"}));
  EXPECT_THAT(bindings.warnings, IsEmpty());
}

TEST(Threads, KeepToTheQuotaOfTheCgroup) {
  HostTopology topology = grid(2, 8);
  topology.quota_cpus = 6.5;
  EXPECT_THAT(threadsOf(bound(topology, {}, 2)), ElementsAre(3, 3));
  topology.quota_cpus = 0.5;
  EXPECT_THAT(threadsOf(bound(topology, {}, 2)), ElementsAre(1, 1));
}

TEST(MemoryPolicies, AreLeftAloneWhereTheyAreForbidden) {
  HostTopology topology = grid(2, 4);
  topology.memory_binding_allowed = false;
  const Bindings bindings = bound(topology, {}, 2);
  EXPECT_THAT(cpusOf(bindings), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(memoryOf(bindings), ElementsAre("", ""));
  EXPECT_THAT(bindings.warnings, ElementsAre(HasSubstr("memory is not bound")));
}

TEST(SpreadNuma, BindsNothingWhereNodesAreUnknownUnlessItWasAskedFor) {
  HostTopology topology = grid(1, 8);
  topology.nodes_problem = "no hwloc";
  const Bindings bindings = bound(topology, {}, 2);
  EXPECT_THAT(cpusOf(bindings), ElementsAre("", ""));
  EXPECT_EQ(bindings.instances[0].reason, "the memory nodes are not known");
  EXPECT_THAT(bindings.warnings, ElementsAre("nothing is bound: no hwloc"));
  EXPECT_EQ(bind(topology, {.nodes_required = true}, 2).status().message(), "no hwloc");
  EXPECT_EQ(bind(topology, {.mode = BindMode::kExplicit, .explicit_cpus = {list("0")}}, 2).status().message(),
            "no hwloc");
}

TEST(DetailFor, AsksForNoMoreThanIsNeeded) {
  EXPECT_EQ(detailFor({}, 1), TopologyDetail::kCpus) << "there is nothing to divide";
  EXPECT_EQ(detailFor({.mode = BindMode::kCompact}, 1), TopologyDetail::kCores);
  EXPECT_EQ(detailFor({.mode = BindMode::kDisabled}, 2), TopologyDetail::kCpus);
  EXPECT_EQ(detailFor({.mode = BindMode::kSpreadNuma}, 2), TopologyDetail::kNodes);
  EXPECT_EQ(detailFor({.mode = BindMode::kExplicit}, 2), TopologyDetail::kNodes);
  EXPECT_EQ(detailFor({.mode = BindMode::kSpreadCores}, 2), TopologyDetail::kCores);
}

}  // namespace
}  // namespace pop::model
