// SPDX-License-Identifier: Apache-2.0
// Partitions of the real daemon: a client of V-IPU makes them, jobs and programs hold them, and popdistd is
// killed.
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "proto/popdist/v1/pods.grpc.pb.h"
#include "proto/virmgrpc/version.grpc.pb.h"
#include "proto/virmgrpc/vipuuser.grpc.pb.h"
#include "tests/integration/daemon/daemon_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kToken = "0123456789abcdef";

class PartitionsTest : public DaemonTest {
 protected:
  using User = virmgrpc::UserService::Stub;

  /// A call's time limits: until there is a connection, and for an answer.
  static void setPatience(grpc::ClientContext& context) {
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + 2 * kTimeout);
  }

  /// A call that tries again while popdistd is away.
  template <typename Stub, typename Request, typename Reply>
  static grpc::Status ask(Stub& stub,
                          grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                          const Request& request, Reply* reply) {
    grpc::Status status;
    waitUntil(
        [&] {
          grpc::ClientContext context;
          setPatience(context);
          status = (stub.*method)(&context, request, reply);
          return status.error_code() != grpc::StatusCode::UNAVAILABLE;
        },
        kTimeout);
    return status;
  }

  std::unique_ptr<v1::Pods::Stub> pods(const std::string& user = "alice") {
    return v1::Pods::NewStub(channel(user));
  }
  std::unique_ptr<User> vipu(const std::string& user = "alice") {
    return virmgrpc::UserService::NewStub(channel(user));
  }

  /// An admin's set-up: a Pod64 on h0, which alice may use.
  void makePod(v1::IldTopology topology = v1::ILD_MESH) {
    const auto admin = pods("root");
    v1::ClusterInfo cluster;
    cluster.set_id("pod64");
    cluster.set_topology(topology);
    ASSERT_TRUE(ask(*admin, &v1::Pods::Stub::CreateCluster, cluster, &cluster).ok());
    v1::CreateAllocationRequest request;
    request.mutable_allocation()->set_id("team");
    request.mutable_allocation()->set_cluster("pod64");
    request.mutable_allocation()->add_users("alice");
    for (int i = 0; i < 16; ++i) {
      v1::AgentInfo agent;
      agent.set_id("m" + std::to_string(i));
      agent.set_cluster("pod64");
      agent.set_position(i);
      agent.set_host("h0");
      agent.set_ip("127.0.0.1");
      request.mutable_allocation()->add_agents(agent.id());
      const grpc::Status made = ask(*admin, &v1::Pods::Stub::CreateAgent, agent, &agent);
      ASSERT_TRUE(made.ok()) << made.error_message();
    }
    v1::AllocationInfo allocation;
    const grpc::Status made = ask(*admin, &v1::Pods::Stub::CreateAllocation, request, &allocation);
    ASSERT_TRUE(made.ok()) << made.error_message();
    EXPECT_EQ(allocation.capacity().free(), 64);
  }

  grpc::Status create(const std::string& id, std::uint32_t size, std::uint32_t num_gcds,
                      const std::string& user = "alice", bool reconfigurable = false) {
    virmgrpc::CreatePartitionRequest request;
    request.mutable_requirements()->set_reconfigurable(reconfigurable);
    request.mutable_requirements()->set_id(id);
    request.mutable_requirements()->set_size(size);
    request.mutable_requirements()->set_num_gcds(num_gcds);
    virmgrpc::CreatePartitionReply reply;
    return ask(*vipu(user), &User::CreatePartition, request, &reply);
  }
  grpc::Status remove(const std::string& id, bool force = false) {
    virmgrpc::RemovePartitionRequest request;
    request.set_partition_id(id);
    request.set_force(force);
    virmgrpc::RemovePartitionReply reply;
    return ask(*vipu(), &User::RemovePartition, request, &reply);
  }
  grpc::Status reset(const std::string& id) {
    virmgrpc::ResetPartitionRequest request;
    request.set_partition_id(id);
    virmgrpc::ResetPartitionReply reply;
    return ask(*vipu(), &User::ResetPartition, request, &reply);
  }
  grpc::Status status(const std::string& id, virmgrpc::PartitionStatus* status = nullptr) {
    virmgrpc::GetPartitionStatusRequest request;
    request.set_partition_id(id);
    virmgrpc::GetPartitionStatusReply reply;
    grpc::Status how = ask(*vipu(), &User::GetPartitionStatus, request, &reply);
    if (status != nullptr) *status = reply.status();
    return how;
  }
  void waitUntilActive(const std::string& id) {
    virmgrpc::PartitionStatus now;
    EXPECT_TRUE(waitUntil([&] { return status(id, &now).ok() && now.ready_state() == virmgrpc::PS_ACTIVE; },
                          kTimeout))
        << now.ShortDebugString();
    EXPECT_EQ(now.operation_state(), virmgrpc::POS_IDLE);
  }
  std::vector<std::string> partitions() {
    virmgrpc::ListPartitionsReply reply;
    EXPECT_TRUE(ask(*vipu(), &User::ListPartitions, virmgrpc::ListPartitionsRequest(), &reply).ok());
    std::vector<std::string> ids;
    for (const auto& partition : reply.partitions()) ids.push_back(partition.id());
    return ids;
  }
  std::set<std::string> chipsOf(const std::string& id) {
    virmgrpc::GetPartitionIpuofConfigRequest request;
    request.set_partition_id(id);
    virmgrpc::GetPartitionIpuofConfigReply reply;
    const grpc::Status how = ask(*vipu(), &User::GetPartitionIpuofConfig, request, &reply);
    EXPECT_TRUE(how.ok()) << how.error_message();
    EXPECT_EQ(reply.ipuof_config().gcd_configs_size(), 2);
    std::set<std::string> chips;
    for (const auto& gcd : reply.ipuof_config().gcd_configs()) {
      for (const auto& device : gcd.devices())
        chips.insert(device.ip() + '/' + std::to_string(device.server_port()) + '/' +
                     std::to_string(device.ipu_id()) + '/' + device.chip_id());
    }
    return chips;
  }
  std::int64_t jobHolding(const std::string& id) {
    v1::ListPodPartitionsReply reply;
    EXPECT_TRUE(ask(*pods(), &v1::Pods::Stub::ListPartitions, v1::ListPodPartitionsRequest(), &reply).ok());
    for (const v1::PartitionInfo& partition : reply.partitions()) {
      if (partition.id() == id) return partition.job();
    }
    return -1;
  }

  /// Two instances with eight IPUs each.
  static v1::SubmitRequest inPartition(const std::string& id, const std::string& script) {
    v1::SubmitRequest request = shell(script, 2);
    request.mutable_spec()->set_ipus_per_replica(8);
    request.mutable_spec()->mutable_partition()->set_name(id);
    return request;
  }
};

TEST_F(PartitionsTest, AClientOfVipuMakesOneAndOneJobAtATimeHasIt) {
  startDaemon();
  startHost("h0", 8);
  makePod();
  ASSERT_TRUE(create("p16", 16, 2).ok());
  EXPECT_EQ(create("p16", 16, 2).error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(create("q", 16, 2, "bob").ok(), false) << "bob may use no allocation";
  EXPECT_THAT(partitions(), ::testing::ElementsAre("p16"));
  waitUntilActive("p16");
  const std::set<std::string> chips = chipsOf("p16");
  EXPECT_EQ(chips.size(), 16U);
  EXPECT_TRUE(reset("p16").ok());
  waitUntilActive("p16");

  // A job that finds another in its place exits with 9.
  const std::string shared = path("shared");
  std::filesystem::create_directory(shared);
  ::chmod(shared.c_str(), 0777);
  const std::string script =
      "echo in $IPUOF_VIPU_API_PARTITION_ID of $IPUOF_VIPU_API_HOST:$IPUOF_VIPU_API_PORT\n"
      "test $POPDIST_INSTANCE_INDEX = 0 || exit 0\n"
      "mkdir " +
      shared +
      "/running || exit 9\n"
      "until test -e " +
      shared +
      "/go; do sleep 0.02; done\n"
      "rmdir " +
      shared + "/running";
  const std::int64_t first = submit(inPartition("p16", script));
  waitForState(first, v1::JOB_RUNNING);
  const std::int64_t second = submit(inPartition("p16", script));
  const std::string held = "held by job " + std::to_string(first);
  EXPECT_EQ(job(second).state(), v1::JOB_QUEUED);
  EXPECT_THAT(job(second).reason(), HasSubstr(held));
  EXPECT_EQ(remove("p16").error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(remove("p16").error_message(), HasSubstr(held));
  EXPECT_EQ(reset("p16").error_code(), grpc::StatusCode::FAILED_PRECONDITION);

  kill("popdistd", SIGKILL);
  startDaemon();
  waitForHost("h0");
  EXPECT_THAT(partitions(), ::testing::ElementsAre("p16"));
  EXPECT_EQ(chipsOf("p16"), chips);
  waitUntilActive("p16");
  EXPECT_EQ(jobHolding("p16"), first);
  EXPECT_EQ(job(second).state(), v1::JOB_QUEUED);
  EXPECT_EQ(remove("p16").error_code(), grpc::StatusCode::FAILED_PRECONDITION);

  std::ofstream(shared + "/go") << "go\n";
  for (const std::int64_t id : {first, second}) {
    const v1::JobInfo ended = waitForEnd(id);
    EXPECT_EQ(ended.end(), v1::END_SUCCEEDED) << ended.reason();
    EXPECT_THAT(wholeLog(id).text, HasSubstr("in p16 of localhost:" + std::to_string(port())));
  }
  EXPECT_TRUE(waitUntil([&] { return remove("p16").ok(); }, kTimeout)) << remove("p16").error_message();
  EXPECT_TRUE(waitUntil([&] { return partitions().empty(); }, kTimeout));
  EXPECT_EQ(status("p16").error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(remove("p16").error_code(), grpc::StatusCode::NOT_FOUND);
}

/// "pod NAME" and the simulated picoseconds of its all-reduce, as both instances say them.
struct SeenPod {
  std::string name;
  long long picoseconds = 0;
};

SeenPod podIn(const std::string& log) {
  SeenPod seen;
  std::istringstream words(log.substr(std::min(log.size(), log.find("pod "))));
  std::string word;
  words >> word >> seen.name >> seen.picoseconds;
  return seen;
}

// All 64 IPUs have the loop cables of the torus, 16 of them have none.
TEST_F(PartitionsTest, AJobsPodIsItsPartition) {
  startDaemon();
  startHost("h0", 8);
  makePod(v1::ILD_TORUS);
  const auto run = [this](const std::string& name, int ipus_per_replica, const std::string& system = "") {
    v1::SubmitRequest request = inPartition(name, POD_CHILD_PATH);
    request.mutable_spec()->set_ipus_per_replica(ipus_per_replica);
    request.mutable_spec()->set_num_replicas(8);
    request.mutable_spec()->set_system(system);
    const std::int64_t id = submit(request);
    const v1::JobInfo ended = waitForEnd(id);
    EXPECT_EQ(ended.end(), v1::END_SUCCEEDED) << ended.reason() << wholeLog(id).text;
    return podIn(wholeLog(id).text);
  };
  const SeenPod mesh = run("p16", 2);
  EXPECT_EQ(mesh.name, "p16");
  EXPECT_EQ(mesh.picoseconds, run("q", 2, "pod16").picoseconds);
  const SeenPod torus = run("p64", 8);
  EXPECT_EQ(torus.name, "p64");
  EXPECT_EQ(torus.picoseconds, run("q", 8, "pod64-torus").picoseconds);
  ASSERT_TRUE(create("dnc", 64, 2, "alice", true).ok());  // its routing uses no loop cables
  waitUntilActive("dnc");
  EXPECT_GT(run("dnc", 8).picoseconds, torus.picoseconds);
}

// poprun, with popdistd restarted under it.
TEST_F(PartitionsTest, AProgramKeepsItsPartitionWhilePopdistdIsRestarted) {
  startDaemon();
  startHost("h0", 8);
  makePod();
  ASSERT_TRUE(create("p16", 16, 2).ok());
  waitUntilActive("p16");
  v1::HoldRequest request;
  request.set_partition("p16");
  request.set_holder("a test");
  request.set_token(kToken);
  v1::HoldReply reply;
  std::int64_t waiting = 0;
  const auto client = pods();
  for (const int signal : {SIGTERM, SIGKILL}) {
    grpc::ClientContext context;
    setPatience(context);
    const auto stream = client->HoldPartition(&context, request);
    ASSERT_TRUE(stream->Read(&reply)) << stream->Finish().error_message();
    if (waiting == 0) waiting = submit(inPartition("p16", "true"));
    EXPECT_THAT(job(waiting).reason(), HasSubstr("a test"));
    kill("popdistd", signal);
    EXPECT_FALSE(stream->Read(&reply));
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
    startDaemon();
    waitForHost("h0");
    EXPECT_EQ(job(waiting).state(), v1::JOB_QUEUED);
  }
  {
    grpc::ClientContext context;
    setPatience(context);
    const auto stream = client->HoldPartition(&context, request);
    ASSERT_TRUE(stream->Read(&reply)) << stream->Finish().error_message();
    context.TryCancel();
  }
  EXPECT_EQ(waitForEnd(waiting).end(), v1::END_SUCCEEDED);
}

}  // namespace
}  // namespace pop::testing
