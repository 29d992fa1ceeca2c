// SPDX-License-Identifier: Apache-2.0
// A remote agent at our end of a link, whose other end is the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "controller/hosts/remote_agent.h"
#include "tests/testing/fake_host_ports.h"
#include "tests/testing/fake_loop.h"
#include "tests/testing/fake_output.h"

namespace pop {

class RecordedLink final : public CommandLink {
 public:
  void send(NumberedCommand command) override { sent.push_back(std::move(command)); }
  void close() override { ++closed; }

  template <typename Command>
  std::vector<Command> all() const {
    std::vector<Command> found;
    for (const NumberedCommand& each : sent) {
      if (const auto* command = std::get_if<Command>(&each.command)) found.push_back(*command);
    }
    return found;
  }

  std::vector<NumberedCommand> sent;
  int closed = 0;
};

// Instances 4 and 5 of a job.
inline JobSlice slice() {
  JobSlice slice{.job_id = "4f2a", .num_instances = 6};
  for (const int instance : {4, 5}) {
    slice.instances.emplace_back();
    slice.instances.back().env.instance_index = instance;
  }
  return slice;
}

class RemoteAgentTest : public ::testing::Test {
 protected:
  void report(AgentReport report) { agent.receive({++reported, std::move(report)}); }
  void runs() {
    agent.linkUp(link);
    agent.run(slice(), events);
  }
  void settle() { loop.advance(std::chrono::milliseconds(0)); }

  testing::FakeLoop loop;
  testing::FakeOutput output;
  RecordedLink link;
  testing::RecordedEvents events;
  std::uint64_t reported = 0;
  RemoteAgent agent{loop, output};
};

}  // namespace pop
