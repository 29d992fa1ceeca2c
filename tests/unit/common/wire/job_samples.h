// SPDX-License-Identifier: Apache-2.0
// A job of three instances, and what is told of it, with nothing at its default.
#pragma once

#include <string>
#include <vector>

#include "common/wire/job_codec.h"

namespace pop::testing {

inline const std::string kNoUtf8{"\0\xff\xfe a\nb", 8};
inline constexpr int kSampleInstances = 3;

inline model::JobSpec sampleSpec() {
  model::JobSpec spec;
  spec.hosts = {{"node1", 2}, {"fd00::1", 1}};
  spec.host_subnet = "10.1.0.0/16";
  spec.copies = {.paths = {"/data/" + kNoUtf8, "/etc"}, .ssh_key = true};
  spec.programs = {{.command = {"./train", kNoUtf8, ""},
                    .num_instances = 2,
                    .working_directory = "/home/" + kNoUtf8,
                    .environment = {{"A", kNoUtf8}, {"B", ""}}},
                   {.command = {"./evaluate"}}};
  spec.num_instances = kSampleInstances;
  spec.num_replicas = 7;
  spec.uneven_replicas = true;
  spec.ipus_per_replica = 4;
  spec.num_ilds = 0;
  spec.system = "pod64";
  spec.needs_pods = false;
  spec.offline_mode = true;
  spec.partition = {.name = kNoUtf8,
                    .server_host = "vipu",
                    .server_port = 65535,
                    .server_timeout_seconds = 5,
                    .attempts = 6,
                    .allocation = "rack" + kNoUtf8,
                    .update = true,
                    .reset = false,
                    .remove = false,
                    .sync_type = "poplar"};
  spec.binding = {.mode = model::BindMode::kExplicit,
                  .cores_per_instance = 8,
                  .explicit_cpus = {model::CpuSet({0, 1, 5}), model::CpuSet({65535})},
                  .nodes_required = true};
  spec.env_families = {contract::EnvFamily::kPyTorch, contract::EnvFamily::kPmix};
  spec.tf_tasks = {.chief = true, .evaluator = true};
  spec.environment = {{"C", "=\n"}, {kNoUtf8, "d"}};
  spec.executable_cache_path = "/cache/" + kNoUtf8;
  spec.make_executable_cache = true;
  spec.stdin_policy = {.who = model::StdinPolicy::Who::kAll, .instance = 2};
  spec.kill_grace = std::chrono::milliseconds(0);
  spec.timeout = std::chrono::milliseconds(1'000'000'000'000);
  spec.stack_traces = true;
  spec.max_restarts = 9;
  spec.restart_delay = std::chrono::milliseconds(10);
  spec.min_hosts = 0;
  return spec;
}

inline LogEntry sampleLogEntry() {
  return {.after = std::chrono::milliseconds(1500),
          .instance = 0,
          .text = "was \x1b[1mstarted\n",
          .kind = EventKind::kInstanceClosed};
}

inline model::Binding sampleBinding() {
  return {.cpus = model::CpuSet({0, 1, 5}),
          .memory_nodes = model::CpuSet({1}),
          .threads = 2,
          .reason = "memory node 1 of 4"};
}

inline wire::Placed samplePlaced() {
  return {{{.host = "node1", .binding = sampleBinding()},
           {.host = "node1", .binding = {.reason = "nothing to divide"}},
           {.host = "fd00::1", .binding = {}}}};
}

inline Failure sampleFailure() {
  return {.instance = 0,
          .pid = 712,
          .reason = "was killed by SIGSEGV \xc3\xa4",
          .exit_code = 139,
          .lost = true,
          .host = "node1",
          .hosts_lost = true,
          .instances_lost = 2,
          .after = std::chrono::milliseconds(90'000)};
}

inline JobOutcome sampleOutcome() {
  return {.exit_code = 139,
          .user_signal = 15,
          .timed_out = true,
          .failure = sampleFailure(),
          .why_not_again = "too few hosts are left",
          .restarts = 3,
          .instances_stopped = 2,
          .hosts_unanswered = 1,
          .stack_traces = {{.instance = 2, .pid = 715, .text = "#0 main\n#1 _start\n", .host = "fd00::1"},
                           {.instance = 0, .pid = 712, .text = "", .host = ""}}};
}

inline wire::Output sampleOutput() {
  return {.instance = 2, .stream = Stream::kStderr, .text = kNoUtf8};
}

/// One of each kind.
inline std::vector<wire::JobEvent> sampleEvents() {
  return {sampleLogEntry(), samplePlaced(), wire::Restarting{.failed = sampleOutcome(), .restart = 2},
          wire::Said{"poprun: stopping 2 instances\n"}, sampleOutcome()};
}

}  // namespace pop::testing
