// SPDX-License-Identifier: Apache-2.0
// Each mistake in what a client asks for has its code, and what it leaves open has its default.
#include "popdistd/partitions/requirements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/unit/popdistd/partitions/fixture.h"

namespace pop::vipu {
namespace {

using ::testing::HasSubstr;

struct Mistake {
  const char* name;
  std::function<void(PartitionRequirements&)> make;
  Code code;
  const char* words;  // that the message must have: thing, cause or knob
};

const std::vector<Mistake> kMistakes{
    {"no name", [](auto& asked) { asked.id = ""; }, Code::kInvalidArgument, "partition id"},
    {"a path", [](auto& asked) { asked.id = "../p"; }, Code::kInvalidArgument, "'../p'"},
    {"no size", [](auto& asked) { asked.size = 0; }, Code::kInvalidArgument, "size"},
    {"no power of two", [](auto& asked) { asked.size = 12; }, Code::kInvalidArgument, "16"},
    {"larger than a cluster", [](auto& asked) { asked.size = 1U << 20; }, Code::kInvalidArgument, "65536"},
    {"larger than an ILD", [](auto& asked) { asked.size = 128; }, Code::kInvalidArgument,
     "num_ipulink_segments 2"},
    {"three segments", [](auto& asked) { asked.num_segments = 3; }, Code::kInvalidArgument,
     "num_ipulink_segments 3"},
    {"more segments than IPUs", [](auto& asked) { asked.num_segments = 8; }, Code::kInvalidArgument,
     "4 IPUs"},
    {"three GCDs", [](auto& asked) { asked.num_gcds = 3; }, Code::kInvalidArgument, "num_gcds 3"},
    {"more GCDs than IPUs", [](auto& asked) { asked.num_gcds = 8; }, Code::kInvalidArgument, "num_gcds 8"},
    {"replicas that are not the same number in each GCD",
     [](auto& asked) {
       asked.num_gcds = 2;
       asked.num_replicas = 3;
     },
     Code::kInvalidArgument, "num_replicas 3 does not fit its 2 GCDs"},
    {"fewer replicas than GCDs",
     [](auto& asked) {
       asked.num_gcds = 4;
       asked.num_replicas = 2;
     },
     Code::kInvalidArgument, "num_replicas 2 does not fit its 4 GCDs"},
    {"more replicas than IPUs", [](auto& asked) { asked.num_replicas = 5; }, Code::kInvalidArgument,
     "num_replicas 5"},
    {"a sync type that nobody has", [](auto& asked) { asked.sync = SyncType::kGs2IndependentRails; },
     Code::kInvalidArgument, "sync_type"},
    {"reconfigurable, with another sync type",
     [](auto& asked) {
       asked.reconfigurable = true;
       asked.sync = SyncType::kPodNativeDefault;
     },
     Code::kInvalidArgument, "reconfigurable"},
    {"loop links of a mesh", [](auto& asked) { asked.routing = IpuLinkRouting::kRingSwnc; },
     Code::kInvalidArgument, "RINGSWNC"},
    {"switches of a ring",
     [](auto& asked) {
       asked.num_segments = 2;
       asked.gw_routing = GatewayRouting::kSwRing;
     },
     Code::kInvalidArgument, "SWRING"},
    {"IPUs without cluster",
     [](auto& asked) {
       asked.ipus = {{0, 0, 0, 0}};
       asked.size = 0;
     },
     Code::kInvalidArgument, "cluster_id"},
    {"IPUs that are not the size",
     [](auto& asked) {
       asked.cluster = "c";
       asked.ipus = {{0, 0, 0, 0}};
     },
     Code::kInvalidArgument, "size 4"},
    {"an IPU twice",
     [](auto& asked) {
       asked.cluster = "c";
       asked.size = 0;
       asked.ipus = {{0, 0, 1, 0}, {0, 0, 1, 0}};
     },
     Code::kInvalidArgument, "twice"},
    {"an IPU that no ILD has",
     [](auto& asked) {
       asked.cluster = "c";
       asked.size = 0;
       asked.ipus = {{0, 0, 64, 0}};
     },
     Code::kInvalidArgument, "IPU 64"},
    {"routing ids with a gap",
     [](auto& asked) {
       asked.cluster = "c";
       asked.size = 0;
       asked.ipus = {{0, 0, 0, 0}, {0, 0, 1, 2}};
     },
     Code::kInvalidArgument, "routing ids"},
    {"segments that are not alike",
     [](auto& asked) {
       asked.cluster = "c";
       asked.ipus = {{0, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 2, 0}, {1, 0, 0, 0}};
     },
     Code::kInvalidArgument, "segment"},
    {"segments beside IPUs",
     [](auto& asked) {
       asked.cluster = "c";
       asked.num_segments = 2;
       asked.ipus = {{0, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 2, 0}, {0, 0, 3, 0}};
     },
     Code::kInvalidArgument, "num_ipulink_segments is 2"},
    {"an unknown cluster", [](auto& asked) { asked.cluster = "d"; }, Code::kNotFound, "'d'"},
    {"an unknown allocation", [](auto& asked) { asked.allocation = "x"; }, Code::kNotFound, "'x'"},
    {"another's allocation", [](auto& asked) { asked.allocation = "bobs"; }, Code::kNotFound, "'alice'"},
    {"an allocation of another cluster",
     [](auto& asked) {
       asked.cluster = "other";
       asked.allocation = "a";
     },
     Code::kInvalidArgument, "cluster_id"},
    {"a cluster without allocation for the user", [](auto& asked) { asked.cluster = "other"; },
     Code::kNotFound, "'alice'"},
    {"a name that is taken", [](auto& asked) { asked.id = "there"; }, Code::kAlreadyExists, "'there'"},
    {"an IPU that is in use",
     [](auto& asked) {
       asked.cluster = "c";
       asked.size = 0;
       asked.ipus = {{0, 0, 0, 0}};
     },
     Code::kFailedPrecondition, "'there'"},
    {"an IPU of a machine that is drained",
     [](auto& asked) {
       asked.cluster = "c";
       asked.size = 0;
       asked.ipus = {{0, 0, 4, 0}};
     },
     Code::kFailedPrecondition, "fan"},
    {"an IPU that is nobody's",
     [](auto& asked) {
       asked.cluster = "c";
       asked.size = 0;
       asked.ipus = {{0, 0, 63, 0}};
     },
     Code::kFailedPrecondition, "allocation"},
    {"more than the allocation has", [](auto& asked) { asked.size = 32; }, Code::kFailedPrecondition,
     "the largest block has 16"},
    {"more than is free", [](auto& asked) { asked.size = 16; }, Code::kResourceExhausted,
     "the largest free block has 8"},
};

class Mistakes : public ::testing::Test {
 protected:
  Mistakes() {
    addPod(table_, {.ilds = 2, .machines = 4});
    addPod(table_, {.cluster = "other", .machines = 1}, "bobs");
    EXPECT_TRUE(table_.setAllocation({"bobs", "other", {machineName("other", 0, 0)}, {"bob"}}).ok());
    for (int ild = 0; ild < 2; ++ild) {
      CreateRequest request = asks(ild == 0 ? "there" : "too", 1);
      request.requirements.cluster = "c";
      request.requirements.size = 0;
      request.requirements.ipus = {{ild, 0, 0, 0}};
      create(table_, request);
    }
    EXPECT_TRUE(table_.drain(machineName("c", 0, 1), "fan").ok());
  }

  PartitionTable table_;
};

TEST_F(Mistakes, EachHasItsCodeAndNamesWhatIsWrong) {
  for (const Mistake& mistake : kMistakes) {
    CreateRequest request = asks("p", 4);
    mistake.make(request.requirements);
    const auto before = table_.partitions();
    const auto created = table_.create(request, at(0));
    EXPECT_EQ(created.code(), mistake.code) << mistake.name << ": " << created.status().message();
    EXPECT_THAT(created.status().message(), HasSubstr(mistake.words)) << mistake.name;
    EXPECT_EQ(table_.partitions(), before) << mistake.name;
  }
}

TEST_F(Mistakes, CallsOnPartitionsThatAreNotThere) {
  EXPECT_EQ(table_.configured("p", at(0)).code(), Code::kNotFound);
  EXPECT_EQ(table_.configFailed("p", "", at(0)).code(), Code::kNotFound);
  EXPECT_EQ(table_.reset("p", false, at(0)).code(), Code::kNotFound);
  EXPECT_EQ(table_.remove("p", true, at(0)).code(), Code::kNotFound);
  EXPECT_EQ(table_.released("p", at(0)).code(), Code::kNotFound);
  EXPECT_EQ(table_.notReleased("p", "", at(0)).code(), Code::kNotFound);
  EXPECT_EQ(table_.forceRelease("p", at(0)).code(), Code::kNotFound);
  EXPECT_EQ(table_.bind("p", "1").code(), Code::kNotFound);
  EXPECT_EQ(table_.unbind("1").code(), Code::kNotFound);
  EXPECT_EQ(table_.machineLost("m", "", at(0)).code(), Code::kNotFound);
  EXPECT_EQ(table_.machineFound("m").code(), Code::kNotFound);
  EXPECT_EQ(table_.list("x", "alice").code(), Code::kNotFound);
  EXPECT_EQ(table_.list("bobs", "alice").code(), Code::kNotFound);
  EXPECT_EQ(table_.capacityOf("x").code(), Code::kNotFound);
}

PartitionSpec planned(const PartitionTable& table, const CreateRequest& request) {
  const auto spec = table.plan(request);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.ok() ? spec.value() : PartitionSpec{};
}

TEST(Defaults, OneGcdOneReplicaOneSegmentAndTheDefaultSync) {
  PartitionTable table;
  addPod(table);
  const PartitionSpec spec = planned(table, asks("p", 4));
  EXPECT_EQ(spec.num_gcds, 1);
  EXPECT_EQ(spec.num_replicas, 1);
  EXPECT_EQ(spec.num_segments, 1);
  EXPECT_EQ(spec.sync, SyncType::kGs2Default);
  EXPECT_EQ(spec.gw_routing, GatewayRouting::kUndefined);
  EXPECT_FALSE(spec.reconfigurable);
}

TEST(Defaults, OneReplicaForEachGcd) {
  PartitionTable table;
  addPod(table);
  CreateRequest request = asks("p", 8);
  request.requirements.num_gcds = 4;
  EXPECT_EQ(planned(table, request).num_replicas, 4);
}

TEST(Defaults, ReplicasNeedNotDivideTheSize) {
  PartitionTable table;
  addPod(table);
  CreateRequest request = asks("p", 4);
  request.requirements.num_replicas = 3;
  EXPECT_EQ(planned(table, request).num_replicas, 3);
}

TEST(Defaults, RoutingBySizeAndTopology) {
  PartitionTable mesh;
  addPod(mesh);
  EXPECT_EQ(planned(mesh, asks("p", 4)).routing, IpuLinkRouting::kDnc);
  EXPECT_EQ(planned(mesh, asks("p", 8)).routing, IpuLinkRouting::kSwnc);
  EXPECT_EQ(planned(mesh, asks("p", 64)).routing, IpuLinkRouting::kSwnc);
  PartitionTable torus;
  addPod(torus, {.topology = IldTopology::kTorus});
  EXPECT_EQ(planned(torus, asks("p", 32)).routing, IpuLinkRouting::kSwnc);
  EXPECT_EQ(planned(torus, asks("p", 64)).routing, IpuLinkRouting::kRingSwnc);
}

TEST(Defaults, ReconfigurableIsDncAndC2Compatible) {
  PartitionTable table;
  addPod(table, {.topology = IldTopology::kTorus});
  CreateRequest request = asks("p", 64);
  request.requirements.reconfigurable = true;
  const PartitionSpec spec = planned(table, request);
  EXPECT_EQ(spec.routing, IpuLinkRouting::kDnc);
  EXPECT_STREQ(nameOf(spec.sync), "c2-compatible");
}

TEST(Defaults, GatewayRoutingByTheLinksBetweenIlds) {
  CreateRequest request = asks("p", 8);
  request.requirements.num_segments = 2;
  PartitionTable ring;
  addPod(ring, {.ilds = 2});
  EXPECT_EQ(planned(ring, request).gw_routing, GatewayRouting::kRing);
  PartitionTable switched;
  addPod(switched, {.ilds = 2, .gateways = GatewayTopology::kSwitched});
  EXPECT_EQ(planned(switched, request).gw_routing, GatewayRouting::kSwRing);
}

}  // namespace
}  // namespace pop::vipu
