// SPDX-License-Identifier: Apache-2.0
// The agent port as messages, for agents on other hosts: one variant for commands, one for reports, so that a
// codec and a simulator handle all of them. proto/popdist/v1/agent.proto is their wire format.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "common/base/status.h"
#include "common/model/topology.h"
#include "common/ports/job_slice.h"

namespace pop {

// ---- controller → agent

struct DescribeCommand {
  int port_count = 0;
  model::TopologyDetail detail = model::TopologyDetail::kNodes;
};
struct RunCommand {
  JobSlice slice;
};
struct SignalCommand {
  int signal = 0;
};
struct TraceStacksCommand {};
struct StopCommand {};
struct KillCommand {};
struct ReleaseFenceCommand {
  FenceId fence = FenceId::kInstances;
  SharedPutValues values;
};
struct AnnounceCommand {
  SharedEndNotices end_notices;
};
/// Input for the stdin of this host's instances; the agent has room for kInputWindowBytes of it.
struct InputCommand {
  std::string bytes;  ///< empty: the end
};
/// This many bytes of output have been consumed: the agent may send as many more.
struct OutputTakenCommand {
  std::int64_t bytes = 0;
};
struct HeartbeatCommand {};

using AgentCommand =
    std::variant<DescribeCommand, RunCommand, SignalCommand, TraceStacksCommand, StopCommand, KillCommand,
                 ReleaseFenceCommand, AnnounceCommand, InputCommand, OutputTakenCommand, HeartbeatCommand>;

// ---- agent → controller

struct DescribedReport {
  Status status;  ///< else `facts` hold
  HostFacts facts;
};
struct StartedReport {
  int instance = 0;
  pid_t pid = 0;
};
struct EndedReport {
  int instance = 0;
  InstanceEnd end;
  std::int64_t input_read = 0;  ///< bytes of stdin that instances have read since the first command
};
struct ClosedReport {
  int instance = 0;
};
struct AbortedReport {
  int instance = 0;
  int exit_code = 0;
  std::string message;
};
struct FenceReachedReport {
  FenceId fence = FenceId::kInstances;
  PutValues values;
  std::int64_t released = 0;  ///< times that the agent has seen this fence open in this run
};
struct StacksReport {
  std::vector<StackTrace> traces;
};
/// JobSlice::reports_wanted: what has changed of the values of this host's instances.
struct ValuesReport {
  std::vector<InstanceValue> values;
};
struct OutputReport {
  int instance = 0;
  Stream stream = Stream::kStdout;
  std::string text;
};
/// This many bytes of stdin have been consumed: the controller may send as many more.
struct InputTakenReport {
  std::int64_t bytes = 0;
};
/// No instance of this host reads stdin any more, though the run goes on: input before the next run is
/// dropped.
struct InputUnreadReport {};
/// SIGSTOP was passed on: until SIGCONT the controller may be silent.
struct StoppedReport {};
struct HeartbeatReport {};

using AgentReport = std::variant<DescribedReport, StartedReport, EndedReport, ClosedReport, AbortedReport,
                                 FenceReachedReport, StacksReport, ValuesReport, OutputReport,
                                 InputTakenReport, InputUnreadReport, StoppedReport, HeartbeatReport>;

// ---- on the link, each direction numbers its messages: 1, 2, 3, …

struct NumberedCommand {
  std::uint64_t number = 0;
  AgentCommand command;
};
struct NumberedReport {
  std::uint64_t number = 0;
  AgentReport report;
};

inline constexpr std::int64_t kOutputWindowBytes = 1 << 20;
inline constexpr std::int64_t kInputWindowBytes = 64 << 10;

}  // namespace pop
