// SPDX-License-Identifier: Apache-2.0
// An agent without a host: it writes down what the controller asks of it, and the test reports in its name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/ports/agent_port.h"
#include "tests/testing/topologies.h"

namespace pop::testing {

class FakeAgent final : public Agent {
 public:
  explicit FakeAgent(std::string address = "10.0.0.1", int first_port = 10000)
      : address_(std::move(address)), first_port_(first_port) {}

  /// Describe fails with this from now on.
  void failDescribe(Status why) { describe_error_ = std::move(why); }

  /// Describe is answered by answerDescribe() from now on, not at once.
  void holdDescribe() { hold_describe_ = true; }
  void answerDescribe() { std::exchange(held_reply_, nullptr)(facts()); }

  void describe(int port_count, model::TopologyDetail detail,
                std::function<void(Result<HostFacts>)> reply) override {
    ports_asked = port_count;
    detail_asked = detail;
    if (hold_describe_) {
      held_reply_ = std::move(reply);
    } else if (describe_error_) {
      reply(*describe_error_);
    } else {
      reply(facts());
    }
  }

  void run(JobSlice the_slice, AgentEvents& the_events) override {
    ++runs;
    slice = std::move(the_slice);
    events = &the_events;
  }
  void stop() override { ++stops; }
  void kill() override { ++kills; }
  void signal(int signal) override { signals.push_back(signal); }
  void traceStacks(std::function<void(std::vector<StackTrace>)> reply) override {
    held_traces = std::move(reply);
  }
  void releaseFence(FenceId /*fence*/, const SharedPutValues& values) override {
    released.push_back(*values);
  }
  void announce(const SharedEndNotices& end_notices) override {
    ++announcements;
    for (const EndNotice& each : *end_notices) {
      announced.push_back(each);
      if (on_announce) on_announce(each);
    }
  }

  /// The host's topology for describe.
  model::HostTopology topology = grid(1, 4);

  // Calls to the agent, in plain sight.
  int ports_asked = -1;
  model::TopologyDetail detail_asked{};
  int runs = 0;
  int stops = 0;
  int kills = 0;
  std::vector<int> signals;
  std::function<void(std::vector<StackTrace>)> held_traces;
  JobSlice slice;
  AgentEvents* events = nullptr;  ///< its listener; set by run()
  std::vector<PutValues> released;
  std::vector<EndNotice> announced;
  int announcements = 0;                              ///< messages in which they came
  std::function<void(const EndNotice&)> on_announce;  ///< the instances' reaction to it

 private:
  HostFacts facts() const {
    HostFacts facts{.address = address_, .topology = topology};
    for (int port = 0; port < ports_asked; ++port) facts.ports.push_back(first_port_ + port);
    return facts;
  }

  const std::string address_;
  const int first_port_;
  std::optional<Status> describe_error_;
  bool hold_describe_ = false;
  std::function<void(Result<HostFacts>)> held_reply_;
};

}  // namespace pop::testing
