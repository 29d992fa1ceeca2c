// SPDX-License-Identifier: Apache-2.0
// Partitions made and removed through V-IPU's API, durably.
#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

#include "bench/daemon_speed/client.h"
#include "bench/daemon_speed/cluster.h"
#include "bench/daemon_speed/measures.h"
#include "bench/harness/session.h"
#include "proto/popdist/v1/pods.grpc.pb.h"
#include "proto/virmgrpc/vipuuser.grpc.pb.h"

namespace pop::bench {
namespace {

namespace v1 = ::popdist::v1;
using User = virmgrpc::UserService;

constexpr int kClients = 50;
constexpr int kPairsOfEach = 40;  // in a round
constexpr int kMachines = 16;     // of 4 IPUs: a Pod64

template <typename Stub, typename Request, typename Reply>
Status ask(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
           const Request& request, Reply& reply) {
  grpc::ClientContext context;
  return statusOf((stub.*method)(&context, request, &reply));
}

Status makePod(const PopCluster& cluster) {
  const auto admin = v1::Pods::NewStub(channelTo(cluster, "root"));
  v1::ClusterInfo pod;
  pod.set_id("pod64");
  POP_RETURN_IF_ERROR(ask(*admin, &v1::Pods::Stub::CreateCluster, pod, pod));
  v1::CreateAllocationRequest request;
  request.mutable_allocation()->set_id("all");
  request.mutable_allocation()->set_cluster("pod64");
  request.mutable_allocation()->add_users("bench");
  for (int i = 0; i < kMachines; ++i) {
    v1::AgentInfo machine;
    machine.set_id("m" + std::to_string(i));
    machine.set_cluster("pod64");
    machine.set_position(i);
    machine.set_host("h0");
    machine.set_ip("127.0.0.1");
    POP_RETURN_IF_ERROR(ask(*admin, &v1::Pods::Stub::CreateAgent, machine, machine));
    request.mutable_allocation()->add_agents(machine.id());
  }
  v1::AllocationInfo allocation;
  return ask(*admin, &v1::Pods::Stub::CreateAllocation, request, allocation);
}

Status makeAndRemove(User::Stub& user, const std::string& id) {
  virmgrpc::CreatePartitionRequest create;
  create.mutable_requirements()->set_id(id);
  create.mutable_requirements()->set_size(1);
  virmgrpc::CreatePartitionReply created;
  POP_RETURN_IF_ERROR(ask(user, &User::Stub::CreatePartition, create, created));
  virmgrpc::RemovePartitionRequest remove;
  remove.set_partition_id(id);
  virmgrpc::RemovePartitionReply removed;
  return ask(user, &User::Stub::RemovePartition, remove, removed);
}

Result<double> pairsPerSecond(const std::vector<std::unique_ptr<User::Stub>>& users, int pairs_of_each) {
  const auto work = [&](int thread) -> Status {
    for (int pair = 0; pair < pairs_of_each; ++pair)
      POP_RETURN_IF_ERROR(
          makeAndRemove(*users[static_cast<std::size_t>(thread)], "p" + std::to_string(thread)));
    return {};
  };
  const Clock::time_point begin = Clock::now();
  POP_RETURN_IF_ERROR(inThreads(static_cast<int>(users.size()), work));
  return static_cast<double>(users.size()) * pairs_of_each / secondsSince(begin);
}

}  // namespace

DaemonFigures measurePartitions(const DaemonOptions& options) {
  PopCluster cluster;
  POP_RETURN_IF_ERROR(cluster.startDaemon(options.programs, options.etcd));
  POP_RETURN_IF_ERROR(makePod(cluster));
  std::vector<std::unique_ptr<User::Stub>> users;
  for (int client = 0; client < kClients; ++client)
    users.push_back(User::NewStub(channelTo(cluster, "bench")));
  POP_RETURN_IF_ERROR(pairsPerSecond(users, 1).status());  // connections are there
  std::vector<double> rates;
  for (int round = 0; round < options.rounds; ++round) {
    showProgress("partitions, round " + std::to_string(round + 1));
    POP_ASSIGN_OR_RETURN(const double rate, pairsPerSecond(users, options.calls(kPairsOfEach)));
    rates.push_back(rate);
  }
  return std::vector<Figure>{
      {"partitions", kPopdistd, "50 clients, created and removed", "pairs/s", summarize(rates)}};
}

}  // namespace pop::bench
