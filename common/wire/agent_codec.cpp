// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes commands and reports.
#include "common/wire/agent_codec.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "common/wire/codec_parts.h"

namespace pop::wire {
namespace {

void encodeValues(const PutValues& values, v1::Values* into) {
  for (const auto& [key, value] : values) {
    v1::Variable* const each = into->add_values();
    each->set_name(key);
    each->set_value(value);
  }
}

PutValues decodeValues(const v1::Values& from) {
  PutValues values;
  for (const v1::Variable& each : from.values()) values.emplace(each.name(), each.value());
  return values;
}

// ---- commands: one function each, into the message's body

Result<FenceId> decodeFence(v1::FenceId fence) {
  static_assert(v1::FenceId_MAX == static_cast<int>(FenceId::kPmix));
  if (!v1::FenceId_IsValid(fence)) return malformed("fence " + std::to_string(fence));
  return static_cast<FenceId>(fence);
}

void encodeBody(const DescribeCommand& describe, v1::Command& into) {
  into.mutable_describe()->set_port_count(describe.port_count);
  into.mutable_describe()->set_detail(encodeDetail(describe.detail));
}
void encodeBody(const RunCommand& run, v1::Command& into) {
  *into.mutable_run() = encode(run.slice);
}
void encodeBody(const SignalCommand& signal, v1::Command& into) {
  into.set_signal(signal.signal);
}
void encodeBody(const TraceStacksCommand&, v1::Command& into) {
  into.mutable_trace_stacks();
}
void encodeBody(const StopCommand&, v1::Command& into) {
  into.mutable_stop();
}
void encodeBody(const KillCommand&, v1::Command& into) {
  into.mutable_kill();
}
void encodeBody(const ReleaseFenceCommand& release, v1::Command& into) {
  encodeValues(*release.values, into.mutable_release_fence()->mutable_values());
  into.mutable_release_fence()->set_fence(static_cast<v1::FenceId>(release.fence));
}
void encodeBody(const AnnounceCommand& announce, v1::Command& into) {
  into.mutable_announce();
  for (const EndNotice& end_notice : *announce.end_notices) {
    v1::EndNotice* const each = into.mutable_announce()->add_end_notices();
    each->set_instance(end_notice.instance);
    each->set_clean(end_notice.clean);
    each->set_text(end_notice.text);
  }
}
void encodeBody(const InputCommand& input, v1::Command& into) {
  into.set_input(input.bytes);
}
void encodeBody(const OutputTakenCommand& taken, v1::Command& into) {
  into.set_output_taken(taken.bytes);
}
void encodeBody(const HeartbeatCommand&, v1::Command& into) {
  into.mutable_heartbeat();
}

Status decodeDescribe(const v1::Describe& from, AgentCommand& into) {
  if (from.port_count() < 0 || from.port_count() > 65535)
    return malformed(std::to_string(from.port_count()) + " ports");
  POP_ASSIGN_OR_RETURN(const model::TopologyDetail detail, decodeDetail(from.detail()));
  into = DescribeCommand{from.port_count(), detail};
  return {};
}

Status decodeRun(const v1::Slice& from, AgentCommand& into) {
  POP_ASSIGN_OR_RETURN(into.emplace<RunCommand>().slice, decode(from));
  return {};
}

SharedEndNotices decodeEndNotices(const v1::EndNotices& from) {
  std::vector<EndNotice> end_notices;
  for (const v1::EndNotice& each : from.end_notices())
    end_notices.push_back({each.instance(), each.clean(), each.text()});
  return std::make_shared<const std::vector<EndNotice>>(std::move(end_notices));
}

Status decodeRelease(const v1::ReleaseFence& from, ReleaseFenceCommand& into) {
  POP_ASSIGN_OR_RETURN(into.fence, decodeFence(from.fence()));
  into.values = std::make_shared<const PutValues>(decodeValues(from.values()));
  return {};
}

Status decodeBody(const v1::Command& from, AgentCommand& into) {
  switch (from.body_case()) {
    case v1::Command::kDescribe:
      return decodeDescribe(from.describe(), into);
    case v1::Command::kRun:
      return decodeRun(from.run(), into);
    case v1::Command::kSignal:
      into.emplace<SignalCommand>().signal = from.signal();
      return {};
    case v1::Command::kTraceStacks:
      into.emplace<TraceStacksCommand>();
      return {};
    case v1::Command::kStop:
      into.emplace<StopCommand>();
      return {};
    case v1::Command::kKill:
      into.emplace<KillCommand>();
      return {};
    case v1::Command::kReleaseFence:
      return decodeRelease(from.release_fence(), into.emplace<ReleaseFenceCommand>());
    case v1::Command::kAnnounce:
      into.emplace<AnnounceCommand>().end_notices = decodeEndNotices(from.announce());
      return {};
    case v1::Command::kInput:
      into.emplace<InputCommand>().bytes = from.input();
      return {};
    case v1::Command::kOutputTaken:
      into.emplace<OutputTakenCommand>().bytes = from.output_taken();
      return {};
    case v1::Command::kHeartbeat:
      into.emplace<HeartbeatCommand>();
      return {};
    case v1::Command::kHello:
    case v1::Command::BODY_NOT_SET:
      break;
  }
  return malformed("command " + std::to_string(from.number()) + " has no body");
}

// ---- reports

void encodeBody(const DescribedReport& described, v1::Report& into) {
  v1::Described* const each = into.mutable_described();
  each->set_code(static_cast<v1::StatusCode>(described.status.code()));
  each->set_message(described.status.message());
  if (!described.status.ok()) return;
  each->set_address(described.facts.address);
  for (const int port : described.facts.ports) each->add_ports(port);
  *each->mutable_topology() = encode(described.facts.topology);
}
void encodeBody(const StartedReport& started, v1::Report& into) {
  into.mutable_started()->set_instance(started.instance);
  into.mutable_started()->set_pid(started.pid);
}
void encodeBody(const EndedReport& ended, v1::Report& into) {
  v1::Ended* const each = into.mutable_ended();
  each->set_instance(ended.instance);
  each->set_code(ended.end.status.code);
  each->set_signal(ended.end.status.signal);
  each->set_core_dumped(ended.end.status.core_dumped);
  each->set_reason(ended.end.reason);
  if (ended.end.told_by >= 0) each->set_told_by(ended.end.told_by);
  each->set_input_read(ended.input_read);
}
void encodeBody(const ClosedReport& closed, v1::Report& into) {
  into.set_closed(closed.instance);
}
void encodeBody(const AbortedReport& aborted, v1::Report& into) {
  into.mutable_aborted()->set_instance(aborted.instance);
  into.mutable_aborted()->set_exit_code(aborted.exit_code);
  into.mutable_aborted()->set_message(aborted.message);
}
void encodeBody(const FenceReachedReport& reached, v1::Report& into) {
  encodeValues(reached.values, into.mutable_fence_reached()->mutable_values());
  into.mutable_fence_reached()->set_released(reached.released);
  into.mutable_fence_reached()->set_fence(static_cast<v1::FenceId>(reached.fence));
}
void encodeBody(const StacksReport& stacks, v1::Report& into) {
  into.mutable_stacks();
  for (const StackTrace& trace : stacks.traces) {
    v1::Stack* const each = into.mutable_stacks()->add_traces();
    each->set_instance(trace.instance);
    each->set_pid(trace.pid);
    each->set_text(trace.text);
  }
}
void encodeBody(const ValuesReport& report, v1::Report& into) {
  into.mutable_values();
  for (const InstanceValue& value : report.values) {
    v1::InstanceValue* const each = into.mutable_values()->add_values();
    each->set_instance(value.instance);
    each->set_name(value.name);
    each->set_fold(static_cast<v1::Fold>(value.fold));
    each->set_value(value.value);
  }
}
void encodeBody(const OutputReport& output, v1::Report& into) {
  into.mutable_output()->set_instance(output.instance);
  into.mutable_output()->set_is_stderr(output.stream == Stream::kStderr);
  into.mutable_output()->set_text(output.text);
}
void encodeBody(const InputTakenReport& taken, v1::Report& into) {
  into.set_input_taken(taken.bytes);
}
void encodeBody(const InputUnreadReport&, v1::Report& into) {
  into.mutable_input_unread();
}
void encodeBody(const StoppedReport&, v1::Report& into) {
  into.mutable_stopped();
}
void encodeBody(const HeartbeatReport&, v1::Report& into) {
  into.mutable_heartbeat();
}

Status decodeDescribed(const v1::Described& from, DescribedReport& into) {
  static_assert(v1::StatusCode_MAX == static_cast<int>(Code::kDataLoss));
  if (!v1::StatusCode_IsValid(from.code())) return malformed("status " + std::to_string(from.code()));
  if (from.code() != v1::STATUS_OK) {
    into.status = {static_cast<Code>(from.code()), bounded(from.message())};
    return {};
  }
  into.facts.address = from.address();
  into.facts.ports.assign(from.ports().begin(), from.ports().end());
  POP_ASSIGN_OR_RETURN(into.facts.topology, decode(from.topology()));
  return {};
}

void decodeStacks(const v1::Stacks& from, StacksReport& into) {
  for (const v1::Stack& each : from.traces())
    into.traces.push_back({each.instance(), each.pid(), bounded(each.text(), kMostStackTraceBytes)});
}

Status decodeReported(const v1::InstanceValues& from, ValuesReport& into) {
  static_assert(v1::Fold_MAX == static_cast<int>(contract::kLastFold));
  for (const v1::InstanceValue& each : from.values()) {
    if (!v1::Fold_IsValid(each.fold())) return malformed("fold " + std::to_string(each.fold()));
    if (each.name().empty() || each.name().size() > contract::kMostReportedNameBytes ||
        !std::isfinite(each.value()))
      return malformed("a value of an instance");
    into.values.push_back(
        {each.instance(), each.name(), static_cast<contract::Fold>(each.fold()), each.value()});
  }
  return {};
}

void decodeEnded(const v1::Ended& from, EndedReport& into) {
  into.instance = from.instance();
  into.end = {{from.code(), from.signal(), from.core_dumped()},
              bounded(from.reason()),
              from.has_told_by() ? from.told_by() : -1};
  into.input_read = from.input_read();
}

void decodeOutput(const v1::Output& from, OutputReport& into) {
  into.instance = from.instance();
  into.stream = from.is_stderr() ? Stream::kStderr : Stream::kStdout;
  into.text = from.text();
}

Status decodeReached(const v1::FenceReached& from, FenceReachedReport& into) {
  POP_ASSIGN_OR_RETURN(into.fence, decodeFence(from.fence()));
  into.values = decodeValues(from.values());
  into.released = from.released();
  return {};
}

Status decodeBody(const v1::Report& from, AgentReport& into) {
  switch (from.body_case()) {
    case v1::Report::kDescribed:
      return decodeDescribed(from.described(), into.emplace<DescribedReport>());
    case v1::Report::kStarted:
      into = StartedReport{from.started().instance(), from.started().pid()};
      return {};
    case v1::Report::kEnded:
      decodeEnded(from.ended(), into.emplace<EndedReport>());
      return {};
    case v1::Report::kClosed:
      into = ClosedReport{from.closed()};
      return {};
    case v1::Report::kAborted:
      into = AbortedReport{from.aborted().instance(), from.aborted().exit_code(),
                           bounded(from.aborted().message())};
      return {};
    case v1::Report::kFenceReached:
      return decodeReached(from.fence_reached(), into.emplace<FenceReachedReport>());
    case v1::Report::kStacks:
      decodeStacks(from.stacks(), into.emplace<StacksReport>());
      return {};
    case v1::Report::kValues:
      return decodeReported(from.values(), into.emplace<ValuesReport>());
    case v1::Report::kOutput:
      decodeOutput(from.output(), into.emplace<OutputReport>());
      return {};
    case v1::Report::kInputTaken:
      into = InputTakenReport{from.input_taken()};
      return {};
    case v1::Report::kInputUnread:
      into.emplace<InputUnreadReport>();
      return {};
    case v1::Report::kStopped:
      into.emplace<StoppedReport>();
      return {};
    case v1::Report::kHeartbeat:
      into.emplace<HeartbeatReport>();
      return {};
    case v1::Report::kWelcome:
    case v1::Report::BODY_NOT_SET:
      break;
  }
  return malformed("report " + std::to_string(from.number()) + " has no body");
}

}  // namespace

v1::Command encode(const NumberedCommand& command) {
  v1::Command into;
  into.set_number(command.number);
  std::visit([&into](const auto& body) { encodeBody(body, into); }, command.command);
  return into;
}

v1::Report encode(const NumberedReport& report) {
  v1::Report into;
  into.set_number(report.number);
  std::visit([&into](const auto& body) { encodeBody(body, into); }, report.report);
  return into;
}

Status decode(const v1::Command& command, NumberedCommand& into) {
  into.number = command.number();
  return decodeBody(command, into.command);
}

Status decode(const v1::Report& report, NumberedReport& into) {
  into.number = report.number();
  return decodeBody(report, into.report);
}

}  // namespace pop::wire
