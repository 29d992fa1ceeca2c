// SPDX-License-Identifier: Apache-2.0
#include "popctl/jobs/submit.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include "common/sys/random_name.h"
#include "common/wire/job_codec.h"
#include "popctl/commands.h"
#include "popctl/jobs/follow.h"
#include "popctl/jobs/show_job.h"
#include "popctl/report.h"
#include "popctl/rpc/exit_codes.h"
#include "popctl/server_of.h"
#include "poprun/cli/parse.h"
#include "poprun/command/run_command.h"
#include "poprun/plan/controller_mistakes.h"
#include "poprun/session/job_session.h"

namespace pop::popctl {
namespace {

std::vector<std::string> poprunWords(const Command& command, const ServerSettings& server) {
  const SubmitOptions& submit = command.submit;
  std::vector<std::string> words{"--controller=" + server.address};
  if (!submit.attach) words.emplace_back("--detach");
  if (!submit.name.empty()) words.push_back("--name=" + submit.name);
  if (submit.held) words.emplace_back("--held");
  if (submit.priority) words.push_back("--priority=" + std::to_string(*submit.priority));
  if (submit.num_hosts) words.push_back("--num-hosts=" + std::to_string(*submit.num_hosts));
  if (submit.no_wait) words.emplace_back("--no-wait");
  words.insert(words.end(), command.rest.begin(), command.rest.end());
  return words;
}

// Do not pass the token file's path to the job.
void removeOwnVariable(std::vector<model::Variable>& variables) {
  std::erase_if(variables, [](const model::Variable& each) { return each.first == "POPCTL_TOKEN_FILE"; });
}

// Programs run elsewhere, where "here" means something else.
Result<model::JobSpec> specForOthers(model::JobSpec spec) {
  const std::string here = workingDirectory();
  removeOwnVariable(spec.environment);
  for (model::Program& program : spec.programs) {
    if (program.working_directory.empty()) program.working_directory = here;
    if (!program.working_directory.starts_with('/'))
      return failedPrecondition(
          "the working directory has no path, as one that was removed: change to another, or name one with "
          "--wdir /DIRECTORY");
    removeOwnVariable(program.environment);
  }
  spec.stdin_policy = {.who = model::StdinPolicy::Who::kNone};
  return spec;
}

Result<v1::SubmitRequest> requestOf(const Options& options, const model::JobSpec& spec) {
  v1::SubmitRequest request;
  request.set_request_id(sys::randomName() + sys::randomName());
  POP_ASSIGN_OR_RETURN(const model::JobSpec for_others, specForOthers(spec));
  if (!request.mutable_spec()->ParseFromString(wire::encode(for_others)))
    return internalError("the job cannot be encoded");
  if (options.host.empty() && options.hostfile.empty()) request.mutable_spec()->clear_hosts();
  request.set_name(options.detached.name);
  request.set_held(options.controller.held);
  request.set_priority(options.controller.priority);
  request.set_no_wait(options.controller.no_wait);
  request.set_log_limit_bytes(options.detached.log_limit_bytes);
  if (options.controller.num_hosts) request.set_num_hosts(*options.controller.num_hosts);
  return request;
}

// Tries for --reconnect, and not past a --timeout that was given.
Result<v1::SubmitReply> submitted(const Command& command, ControllerClient& client,
                                  const v1::SubmitRequest& request) {
  std::optional<std::chrono::system_clock::time_point> until;
  if (command.common.timeout_s) until = std::chrono::system_clock::now() + timeoutOf(command);
  v1::SubmitReply reply;
  Status last;
  const Status how = withReconnects(client, [&](const std::function<void()>&) -> Status {
    Result<v1::SubmitReply> now = client.submit(request, until);
    if (now.ok()) reply = std::move(*now);
    // Why it could not be reached says more than that the time is over.
    if (now.code() == Code::kDeadlineExceeded && !last.ok()) return {now.code(), last.message()};
    return last = now.status();
  });
  if (!how.ok()) return how;
  return reply;
}

int show(const Command& command, const Options& options, ControllerClient& client,
         const v1::SubmitRequest& request, const v1::JobInfo& job) {
  const Result<model::JobSpec> spec = wire::decodeSpec(request.spec().SerializeAsString());
  if (!spec.ok()) return failed(command, spec.status());
  if (!command.common.quiet)
    std::fprintf(stderr, "%s: submitted as job %lld\n", client.server().program.c_str(),
                 static_cast<long long>(job.id()));
  return showJob(client, job, spec.value(), options, {.controls = true});
}

int waitFor(Command command, ControllerClient& client, const v1::JobInfo& job) {
  command.words = "wait job";
  command.object = std::to_string(job.id());
  command.common.quiet = true;
  command.common.timeout_s.reset();
  return waitJob(command, client);
}

// Says that there is no job, and returns the exit code.
using Refuse = std::function<int(const Status&)>;

int submit(const Command& command, Server server, const Options& options, const model::JobSpec& spec,
           const Refuse& refuse) {
  Result<v1::SubmitRequest> request = requestOf(options, spec);
  if (!request.ok()) return refuse(request.status());
  request->set_allocation(command.submit.allocation);
  ControllerClient client(std::move(server), timeoutOf(command));
  const Result<v1::SubmitReply> reply = submitted(command, client, request.value());
  if (!reply.ok()) return refuse(reply.status());
  const v1::JobInfo& job = reply.value().job();
  if (!options.detached.detach) return show(command, options, client, request.value(), job);
  const bool in_json = command.common.json && !command.submit.wait;
  const int printed = in_json ? printJson(reply.value()) : printText(std::to_string(job.id()) + '\n');
  return printed != 0 || !command.submit.wait ? printed : waitFor(command, client, job);
}

}  // namespace

int submitJob(Command command, const ServerSettings& settings) {
  cli::OptionFiles files;
  const pop::Surroundings here = surroundings(files);
  const cli::ParsedOptions parsed =
      cli::parseOptions(poprunWords(command, settings), cli::Spelling::kPoprun, here.file);
  if (const auto done = withoutJob(parsed)) return *done;
  const ControllerOptions& controller = parsed.options.controller;
  if (controller.server != settings.address || !controller.tls.empty())
    return unusable(
        invalidArgument("--controller and --controller-tls are poprun's; popctl submit job asks the popdistd "
                        "of --server and --tls"));
  if (isJobCommand(parsed.options.detached)) return reportMistakes(findControllerMistakes(parsed.options));
  const BuiltJob job = jobToRun(parsed, here);
  if (const auto done = endsWithPlan(parsed.options, job)) return *done;
  Result<Server> server = serverOf(command, settings);
  if (!server.ok()) return unusable(server.status());
  command.object = parsed.options.detached.name;
  return submit(command, std::move(*server), parsed.options, job.spec,
                [&](const Status& why) { return failed(command, why); });
}

int submitForPoprun(const Options& options, const model::JobSpec& spec) {
  Command command{.action = Action::kSubmitJob, .words = "submit job"};
  command.common.server_option = "--controller";
  command.common.tls_option = "--controller-tls";
  command.common.server = options.controller.server;
  command.common.tls = options.controller.tls;
  Result<ServerSettings> settings = serverSettings(command.common, ownSurroundings());
  if (!settings.ok()) return launcherFailed(settings.status());
  settings->program = "poprun";
  Result<Server> server = serverOf(command, settings.value());
  if (!server.ok()) return launcherFailed(server.status());
  server->options = "--controller, --controller-tls";
  server->tls_option = "--controller-tls DIR";
  return submit(command, std::move(*server), options, spec, launcherFailed);
}

}  // namespace pop::popctl
