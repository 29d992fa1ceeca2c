// SPDX-License-Identifier: Apache-2.0
#include "popctl/jobs/show_job.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/sys/process_setup.h"
#include "common/wire/job_codec.h"
#include "popctl/jobs/follow.h"
#include "popctl/jobs/states.h"
#include "popctl/report.h"
#include "popctl/rpc/exit_codes.h"
#include "popctl/rpc/record_stream.h"
#include "popctl/server_of.h"
#include "poprun/cli/option_table.h"
#include "poprun/cli/parse.h"
#include "poprun/command/command_line.h"
#include "poprun/ui/output_settings.h"
#include "runner/attached_controller.h"

namespace pop::popctl {
namespace {

bool isAboutOutput(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  if (cli::isAmong("-v -vv --verbose --vv", name)) return true;
  const cli::OptionRow* const row = cli::findOption(name);
  return row != nullptr && row->group == cli::Group::kOutput;
}

// Ones that this version does not know: only their numbers matter to what is shown.
model::JobSpec specFrom(const v1::JobInfo& job) {
  model::JobSpec spec;
  spec.num_instances = std::max(job.num_instances(), 1);
  std::vector<std::string> command(job.command().begin(), job.command().end());
  if (command.empty()) command.emplace_back("?");
  spec.programs.push_back({.command = std::move(command), .num_instances = spec.num_instances});
  return spec;
}

std::optional<std::chrono::system_clock::time_point> begunAt(const v1::JobInfo& job) {
  if (!job.has_started()) return std::nullopt;
  return std::chrono::system_clock::time_point(std::chrono::seconds(job.started().seconds()));
}

void sayWhyItWaits(const v1::JobInfo& job, const std::string& program) {
  const bool waits = job.state() == v1::JOB_QUEUED && job.wait_cause() != v1::WAIT_NONE;
  if (!waits && job.state() != v1::JOB_HELD) return;  // it may start at once
  const std::string reason = job.reason().empty() ? "" : ": " + printable(job.reason());
  std::fprintf(stderr, "%s: job %lld %s%s\n", program.c_str(), static_cast<long long>(job.id()),
               waits ? "waits" : "is held", reason.c_str());
}

// The duration of a job's output is not known: without the option there is no limit.
std::optional<std::chrono::milliseconds> givenTimeout(const Command& command) {
  return command.common.timeout_s ? std::optional(timeoutOf(command)) : std::nullopt;
}

// One record on each line.
int printRecords(const Command& command, ControllerClient& client, const v1::JobInfo& job) {
  v1::LogsRequest request;
  request.mutable_job()->set_id(job.id());
  request.set_from_sequence(command.since_sequence);
  request.set_follow(command.follow);
  int printed = 0;
  bool over = false;
  std::optional<std::chrono::system_clock::time_point> until;
  if (const auto timeout = givenTimeout(command)) until = std::chrono::system_clock::now() + *timeout;
  const Status how = withReconnects(client, [&](const std::function<void()>& received) -> Status {
    const Status read = client.logs(
        request,
        [&](const v1::Record& record) {
          received();
          request.set_from_sequence(record.sequence() + 1);
          printed = printJson(record);
          over = record.event().has_outcome() || printed != 0;
          return printed == 0;
        },
        until);
    if (until && !over && std::chrono::system_clock::now() >= *until)
      return {Code::kDeadlineExceeded, "it has not ended within the --timeout"};
    if (over || !command.follow || !read.ok()) return over ? Status() : read;
    v1::JobRef ref;
    ref.set_id(job.id());
    POP_ASSIGN_OR_RETURN(const v1::JobInfo now, client.get(ref));
    return now.state() == v1::JOB_ENDED ? Status() : unavailable("the server has ended the stream");
  });
  if (how.ok()) return printed;
  static_cast<void>(failed(command, how));
  return exitCodeOfRecords(how);
}

int show(const Command& command, ControllerClient& client, const Showing& showing) {
  const Result<Options> output = outputOptions(command.rest);
  if (!output.ok()) return unusable(output.status());
  const Result<v1::JobRef> ref = parseJob(command.object);
  if (!ref.ok()) return unusable(ref.status());
  const Result<v1::JobInfo> job = client.get(ref.value());
  if (!job.ok()) return failed(command, job.status());
  if (command.common.json) return printRecords(command, client, job.value());
  const Result<model::JobSpec> spec = shownSpec(job.value());
  if (!spec.ok()) return failed(command, spec.status());
  return showJob(client, job.value(), spec.value(), output.value(), showing);
}

}  // namespace

Result<Options> outputOptions(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.starts_with('-') && !isAboutOutput(word))
      return invalidArgument(inQuotes(word) + " is neither an option of this command nor one of poprun's " +
                             "about output");
  }
  const cli::ParsedOptions parsed = cli::parseOptions(words);
  if (!parsed.mistakes.empty()) return invalidArgument(join(parsed.mistakes, "\n"));
  const std::vector<std::string>& left = parsed.options.programs.front().command;
  if (!left.empty()) return invalidArgument("unexpected arguments: " + join(left, " "));
  return parsed.options;
}

Result<model::JobSpec> shownSpec(const v1::JobInfo& job) {
  if (!job.has_shown()) return specFrom(job);
  POP_ASSIGN_OR_RETURN(model::JobSpec spec, wire::decodeSpec(job.shown().SerializeAsString()));
  return spec.programs.empty() ? specFrom(job) : spec;
}

int showJob(ControllerClient& client, const v1::JobInfo& job, const model::JobSpec& spec,
            const Options& output, const Showing& showing) {
  const std::vector<std::string> mistakes = findWrongInstances(output, spec.num_instances);
  if (!mistakes.empty()) return unusable(invalidArgument(join(mistakes, "\n")));
  if (const Status ready = sys::setUpForJobs(); !ready.ok()) return unusable(ready);
  sayWhyItWaits(job, client.server().program);
  setLogLevel(output);
  const SessionSettings settings{.output = outputSettings(output, spec), .begun = begunAt(job)};
  return runSession(spec, settings, [&](os::EpollLoop& loop, const SessionOutput& to) {
    const std::string name = std::to_string(job.id());
    auto feed = std::make_unique<RecordStream>(loop, client,
                                               RecordsOf{.job = job.id(),
                                                         .from_sequence = showing.from_sequence,
                                                         .follows = showing.follows,
                                                         .controls = showing.controls,
                                                         .timeout = showing.timeout},
                                               to.say);
    return std::make_unique<runner::AttachedController>(
        loop, to.sink, std::move(feed),
        runner::Attachment{.name = name,
                           .ways_back = job.state() == v1::JOB_ENDED
                                            ? ""
                                            : "popctl attach job " + name + ", popctl cancel job " + name,
                           .controls = showing.controls,
                           .exits_as_job = showing.exits_as_job},
        to.say);
  });
}

int attachJob(const Command& command, ControllerClient& client) {
  return show(command, client, {.controls = command.control, .timeout = givenTimeout(command)});
}

int logsJob(const Command& command, ControllerClient& client) {
  return show(command, client,
              {.follows = command.follow,
               .exits_as_job = false,
               .from_sequence = command.since_sequence,
               .timeout = givenTimeout(command)});
}

}  // namespace pop::popctl
