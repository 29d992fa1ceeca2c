// SPDX-License-Identifier: Apache-2.0
// An agent core's ports without a host: processes that are only asked for, a rendezvous that only listens,
// and a controller that only writes down.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent/core/ports.h"

namespace pop::testing {

class FakeProcesses final : public Processes {
 public:
  void spawn(const SpawnRequest& request) override { spawned.push_back(request); }
  void signal(int instance, int signal) override { signals.emplace_back(instance, signal); }
  void abandon() override { ++abandoned; }
  void drain(int instance) override { drained.push_back(instance); }

  std::vector<SpawnRequest> spawned;
  std::vector<std::pair<int, int>> signals;  ///< instance, signal
  std::vector<int> drained;
  int abandoned = 0;
};

class FakeRendezvous final : public Rendezvous {
 public:
  Result<RendezvousPlaces> open(const JobSlice& slice) override {
    ++opened;
    if (!open_error.ok()) return open_error;
    return RendezvousPlaces{
        .socket = "socket-of-" + slice.job_id, .pmix_port = "701", .mpi_directory = "/mpi"};
  }
  void releaseFence(FenceId /*fence*/, const PutValues& values) override { released.push_back(values); }
  void announce(const EndNotice& end_notice) override { announced.push_back(end_notice.text); }

  std::vector<InstanceValue> takeReported() override { return std::exchange(reported, {}); }
  int toldBy(int) const override { return -1; }

  int opened = 0;
  Status open_error;  ///< with which open() fails, when it is one
  std::vector<PutValues> released;
  std::vector<std::string> announced;
  std::vector<InstanceValue> reported;  ///< not taken yet
};

/// Each report as a line: "started 0 pid 700".
class RecordedEvents final : public AgentEvents {
 public:
  void onStarted(int instance, pid_t pid) override {
    lines.push_back("started " + std::to_string(instance) + " pid " + std::to_string(pid));
  }
  void onEnded(int instance, const InstanceEnd& end) override {
    lines.push_back("ended " + std::to_string(instance) + ": " +
                    (end.reason.empty() ? contract::describe(end.status)
                                        : "code " + std::to_string(end.status.code) + ", " + end.reason));
  }
  void onClosed(int instance) override { lines.push_back("closed " + std::to_string(instance)); }
  void onAborted(int instance, int exit_code, const std::string& message) override {
    lines.push_back("aborted " + std::to_string(instance) + ": " + std::to_string(exit_code) + ", " +
                    message);
  }
  void onReported(const std::vector<InstanceValue>& values) override {
    for (const InstanceValue& each : values)
      lines.push_back("reported " + std::to_string(each.instance) + ": " + each.name);
  }
  void onFenceReached(FenceId /*fence*/, PutValues values) override { fences.push_back(std::move(values)); }
  void onLost(const Status& why) override { lines.push_back("lost: " + why.message()); }

  std::vector<std::string> lines;
  std::vector<PutValues> fences;
};

}  // namespace pop::testing
