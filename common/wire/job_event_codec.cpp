// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes what is told of jobs, and what they write.
#include <cstring>
#include <utility>

#include "common/base/text.h"
#include "common/wire/codec_parts.h"
#include "common/wire/job_codec.h"
#include "common/wire/job_field_reader.h"

namespace pop::wire {
namespace {

void encodeFailure(const Failure& failure, v1::Failure* into) {
  if (failure.instance >= 0) into->set_instance(failure.instance);
  into->set_pid(failure.pid);
  into->set_reason(bounded(failure.reason));
  into->set_exit_code(failure.exit_code);
  into->set_lost(failure.lost);
  into->set_host(failure.host);
  into->set_hosts_lost(failure.hosts_lost);
  into->set_instances_lost(failure.instances_lost);
  into->set_after_ms(failure.after.count());
}

void encodeStackTrace(const StackTrace& trace, v1::StackTrace* into) {
  into->set_instance(trace.instance);
  into->set_pid(trace.pid);
  into->set_text(bounded(trace.text, kMostStackTraceBytes));
  into->set_host(trace.host);
}

void encodeOutcome(const JobOutcome& outcome, v1::JobOutcome* into) {
  into->set_exit_code(outcome.exit_code);
  into->set_user_signal(outcome.user_signal);
  into->set_timed_out(outcome.timed_out);
  if (outcome.failure) encodeFailure(*outcome.failure, into->mutable_failure());
  into->set_why_not_again(bounded(outcome.why_not_again));
  into->set_restarts(outcome.restarts);
  into->set_instances_stopped(outcome.instances_stopped);
  into->set_hosts_unanswered(outcome.hosts_unanswered);
  for (const StackTrace& trace : outcome.stack_traces) encodeStackTrace(trace, into->add_stack_traces());
}

void encodeBody(const LogEntry& entry, v1::JobEvent& into) {
  v1::LogEntry* const log = into.mutable_log();
  log->set_after_ms(entry.after.count());
  if (entry.instance >= 0) log->set_instance(entry.instance);
  log->set_text(bounded(entry.text));
  log->set_kind(static_cast<v1::EventKind>(entry.kind));
}
void encodeBody(const Placed& placed, v1::JobEvent& into) {
  into.mutable_placed();
  for (const PlacedInstance& instance : placed.instances) {
    v1::PlacedInstance* const each = into.mutable_placed()->add_instances();
    each->set_host(instance.host);
    encodeBinding(instance.binding, each->mutable_binding());
  }
}
void encodeBody(const Restarting& restarting, v1::JobEvent& into) {
  encodeOutcome(restarting.failed, into.mutable_restarting()->mutable_failed());
  into.mutable_restarting()->set_restart(restarting.restart);
}
void encodeBody(const Said& said, v1::JobEvent& into) {
  into.mutable_said()->set_line(bounded(said.line));
}
void encodeBody(const JobOutcome& outcome, v1::JobEvent& into) {
  encodeOutcome(outcome, into.mutable_outcome());
}

// ---- back

class EventReader {
 public:
  explicit EventReader(int num_instances) : num_instances_(num_instances) {}

  const Status& status() const { return fields_.status(); }

  JobEvent event(const v1::JobEvent& from) {
    switch (from.body_case()) {
      case v1::JobEvent::kLog:
        return logEntry(from.log());
      case v1::JobEvent::kPlaced:
        return placed(from.placed());
      case v1::JobEvent::kRestarting:
        return restarting(from.restarting());
      case v1::JobEvent::kSaid:
        return Said{.line = from.said().line()};
      case v1::JobEvent::kOutcome:
        return outcome(from.outcome());
      case v1::JobEvent::BODY_NOT_SET:
        break;
    }
    fields_.refuse("an event without a body");
    return {};
  }

  Output output(const v1::Output& from) {
    return {.instance = fields_.instance(from.instance(), num_instances_),
            .stream = from.is_stderr() ? Stream::kStderr : Stream::kStdout,
            .text = from.text()};
  }

 private:
  // For a message whose instance may be missing.
  template <typename Message>
  int anyInstance(const Message& from) {
    return from.has_instance() ? fields_.instance(from.instance(), num_instances_) : -1;
  }

  LogEntry logEntry(const v1::LogEntry& from) {
    static_assert(v1::EventKind_MAX == static_cast<int>(EventKind::kInstanceClosed));
    if (!v1::EventKind_IsValid(from.kind()))
      fields_.refuse("kind " + std::to_string(from.kind()) + " of event");
    LogEntry entry{.after = fields_.time("after_ms", from.after_ms()),
                   .instance = anyInstance(from),
                   .text = from.text(),
                   .kind = static_cast<EventKind>(from.kind())};
    if (from.kind() >= v1::EVENT_INSTANCE_STARTED && entry.instance < 0)
      fields_.refuse("an event of an instance that does not say which");
    return entry;
  }

  Placed placed(const v1::Placed& from) {
    if (from.instances_size() != num_instances_) {
      fields_.refuse(std::to_string(from.instances_size()) + " of " + std::to_string(num_instances_) +
                     " instances placed");
    }
    Placed placed;
    for (const v1::PlacedInstance& each : from.instances()) {
      placed.instances.push_back(
          {.host = fields_.host(each.host()), .binding = fields_.take(decodeBinding(each.binding()))});
      fields_.countCpus(placed.instances.back().binding.cpus);
      fields_.countCpus(placed.instances.back().binding.memory_nodes);
      if (!fields_.status().ok()) break;
    }
    return placed;
  }

  Restarting restarting(const v1::Restarting& from) {
    if (!from.failed().has_failure()) fields_.refuse("a restart without a failure");
    return {.failed = outcome(from.failed()), .restart = fields_.count("restart", from.restart())};
  }

  Failure failure(const v1::Failure& from) {
    return {.instance = anyInstance(from),
            .pid = fields_.count("pid", from.pid()),
            .reason = from.reason(),
            .exit_code = from.exit_code(),
            .lost = from.lost(),
            .host = from.host(),
            .hosts_lost = from.hosts_lost(),
            .instances_lost = fields_.count("instances_lost", from.instances_lost()),
            .after = fields_.time("after_ms", from.after_ms())};
  }

  // One that has a name, "INT".
  int userSignal(int signal) {
    if (signal != 0 && ::sigabbrev_np(signal) == nullptr) fields_.refuse("signal " + std::to_string(signal));
    return signal;
  }

  JobOutcome outcome(const v1::JobOutcome& from) {
    JobOutcome outcome{.exit_code = from.exit_code(),
                       .user_signal = userSignal(from.user_signal()),
                       .timed_out = from.timed_out(),
                       .why_not_again = from.why_not_again(),
                       .restarts = fields_.count("restarts", from.restarts()),
                       .instances_stopped = fields_.count("instances_stopped", from.instances_stopped()),
                       .hosts_unanswered = fields_.count("hosts_unanswered", from.hosts_unanswered())};
    if (from.has_failure()) outcome.failure = failure(from.failure());
    for (const v1::StackTrace& each : from.stack_traces()) {
      outcome.stack_traces.push_back({.instance = fields_.instance(each.instance(), num_instances_),
                                      .pid = fields_.count("pid", each.pid()),
                                      .text = each.text(),
                                      .host = each.host()});
    }
    return outcome;
  }

  const int num_instances_;
  FieldReader fields_;
};

}  // namespace

std::string encode(const Output& output) {
  v1::Output into;
  into.set_instance(output.instance);
  into.set_is_stderr(output.stream == Stream::kStderr);
  into.set_text(output.text);
  return into.SerializeAsString();
}

std::string encode(const JobEvent& event) {
  v1::JobEvent into;
  std::visit([&into](const auto& body) { encodeBody(body, into); }, event);
  return into.SerializeAsString();
}

Result<Output> decodeOutput(std::string_view bytes, int num_instances) {
  v1::Output from;
  POP_RETURN_IF_ERROR(readRecord(bytes, from));
  EventReader reader(num_instances);
  Output output = reader.output(from);
  if (!reader.status().ok()) return reader.status();
  return output;
}

Result<JobEvent> decodeEvent(std::string_view bytes, int num_instances) {
  v1::JobEvent from;
  POP_RETURN_IF_ERROR(readRecord(bytes, from));
  EventReader reader(num_instances);
  JobEvent event = reader.event(from);
  if (!reader.status().ok()) return reader.status();
  return event;
}

}  // namespace pop::wire
