// SPDX-License-Identifier: Apache-2.0
// An agent's core on a host that only writes down what it is asked.
#pragma once

#include <gtest/gtest.h>

#include <chrono>

#include "agent/core/agent_core.h"
#include "tests/testing/fake_host_ports.h"
#include "tests/testing/fake_loop.h"

namespace pop::agent {

class AgentCoreTest : public ::testing::Test {
 protected:
  // The part of a job that this host runs: instances 4 and 5 of 6.
  static JobSlice slice() {
    JobSlice slice{.job_id = "4f2a",
                   .num_instances = 6,
                   .programs = {{.command = {"./train"}, .num_instances = 6}},
                   .rendezvous = {.tf_cluster = "{}", .master_address = "w", .master_port = "2"},
                   .env_families = contract::allEnvFamilies(),
                   .kill_grace = std::chrono::milliseconds(5000)};
    for (const int instance : {4, 5}) {
      slice.instances.push_back({.env = {.num_total_replicas = 6,
                                         .replica_index_offset = instance,
                                         .num_instances = 6,
                                         .instance_index = instance,
                                         .num_local_instances = 2,
                                         .local_instance_index = instance - 4}});
    }
    return slice;
  }

  void run() { core.run(slice(), events); }
  void runAndStart() {
    run();
    core.onSpawned(4, 704);
    core.onSpawned(5, 705);
    events.lines.clear();
  }

  testing::FakeLoop loop;
  testing::FakeProcesses processes;
  testing::FakeRendezvous rendezvous;
  testing::RecordedEvents events;
  AgentCore core{loop, processes, rendezvous};
};

}  // namespace pop::agent
