// SPDX-License-Identifier: Apache-2.0
// One of each message, with nothing at its default, for tests of the wire.
#pragma once

#include <memory>
#include <vector>

#include "common/ports/agent_messages.h"

namespace pop::testing {

inline const std::string kAnyBytes{"\0\xff\xfe a\nb", 8};

inline JobSlice sampleSlice() {
  JobSlice slice;
  slice.job_id = "4f2a";
  slice.num_instances = 7;
  slice.programs = {{.command = {"./train", kAnyBytes},
                     .num_instances = 7,
                     .working_directory = "/data",
                     .environment = {{"A", kAnyBytes}}}};
  slice.instances = {
      {.env = {.num_total_replicas = 14,
               .num_ipus_per_replica = 2,
               .num_local_replicas = 3,
               .uniform_replicas = false,
               .replica_index_offset = 5,
               .num_instances = 7,
               .instance_index = 4,
               .num_local_instances = 2,
               .local_instance_index = 1,
               .job_id = "4f2a",
               .agent_socket = "",
               .executable_cache_path = "/cache",
               .system = "pod16",
               .offline = true,
               .restart_count = 2},
       .place = {.host_name = "h7", .host_index = 3, .num_hosts = 4, .cross_rank = 2, .cross_size = 3},
       .program = 0,
       .binding = {.cpus = model::CpuSet({0, 1, 5}),
                   .memory_nodes = model::CpuSet({1}),
                   .threads = 3,
                   .reason = "because"}}};
  slice.hosts = std::make_shared<const std::vector<HostInstances>>(
      std::vector<HostInstances>{{"h1", 0, 4}, {"h7", 4, 2}, {kAnyBytes, 6, 1}});
  slice.rendezvous = {.tf_cluster = "{}",
                      .tf_chief = true,
                      .tf_evaluator = true,
                      .master_address = "fd00::1",
                      .master_port = "1",
                      .jax_port = "2",
                      .horovod_port = "3"};
  slice.poplar = {
      .ild_ipus = 64, .partition = "p", .server_host = "v", .server_port = 8090, .server_timeout_seconds = 5};
  slice.env_families = {contract::EnvFamily::kTensorFlow, contract::EnvFamily::kPmix};
  slice.environment = {{"B", ""}, {"C", "=\n"}};
  slice.stdin_policy = {.who = model::StdinPolicy::Who::kAll, .instance = 3};
  slice.key = std::string("\0\xff key of 16 b..", 16);
  slice.host_address = "fd00::2";
  slice.kill_grace = std::chrono::milliseconds(1500);
  slice.reports_wanted = true;
  return slice;
}

inline HostFacts sampleFacts() {
  HostFacts facts{.address = "10.0.0.7", .ports = {10000, 10001}, .topology = {}};
  facts.topology.allowed = model::CpuSet({0, 1, 2, 3});
  facts.topology.nodes = {{.index = 0, .cpus = facts.topology.allowed, .memory_bytes = 1ULL << 40},
                          {.index = 2, .cpus = {}, .memory_bytes = 5}};
  facts.topology.cores = {{.cpus = model::CpuSet({0, 1}), .package = 1, .efficiency = 2}};
  facts.topology.quota_cpus = 1.5;
  facts.topology.memory_binding_allowed = false;
  facts.topology.nodes_problem = "no hwloc";
  return facts;
}

inline std::vector<AgentCommand> sampleCommands() {
  std::vector<AgentCommand> commands;
  commands.emplace_back(DescribeCommand{3, model::TopologyDetail::kCores});
  commands.emplace_back(RunCommand{sampleSlice()});
  commands.emplace_back(SignalCommand{10});
  commands.emplace_back(TraceStacksCommand{});
  commands.emplace_back(StopCommand{});
  commands.emplace_back(KillCommand{});
  commands.emplace_back(ReleaseFenceCommand{
      FenceId::kInstances, std::make_shared<const PutValues>(PutValues{{"k", kAnyBytes}, {kAnyBytes, ""}})});
  commands.emplace_back(AnnounceCommand{std::make_shared<const std::vector<EndNotice>>(
      std::vector<EndNotice>{{2, true, "instance 2 exited"}, {3, false, kAnyBytes}})});
  commands.emplace_back(InputCommand{kAnyBytes});
  commands.emplace_back(InputCommand{});
  commands.emplace_back(OutputTakenCommand{1LL << 40});
  commands.emplace_back(HeartbeatCommand{});
  return commands;
}

inline std::vector<AgentReport> sampleReports() {
  std::vector<AgentReport> reports;
  reports.emplace_back(DescribedReport{{}, sampleFacts()});
  reports.emplace_back(DescribedReport{{Code::kResourceExhausted, "no ports"}, {}});
  reports.emplace_back(StartedReport{4, 712});
  reports.emplace_back(EndedReport{4, {{3, 11, true}, "lost"}, 70000});
  reports.emplace_back(ClosedReport{0});
  reports.emplace_back(AbortedReport{1, 3, "a\nb"});
  reports.emplace_back(FenceReachedReport{FenceId::kInstances, {{"k", kAnyBytes}}, 3});
  reports.emplace_back(StacksReport{{{1, 712, "frames"}, {2, 713, ""}}});
  reports.emplace_back(ValuesReport{
      {{1, "loss", contract::Fold::kMean, 0.5}, {2, kAnyBytes.substr(0, 64), contract::Fold::kMax, -1e300}}});
  reports.emplace_back(OutputReport{6, Stream::kStderr, kAnyBytes});
  reports.emplace_back(InputTakenReport{65536});
  reports.emplace_back(InputUnreadReport{});
  reports.emplace_back(StoppedReport{});
  reports.emplace_back(HeartbeatReport{});
  return reports;
}

}  // namespace pop::testing
