// SPDX-License-Identifier: Apache-2.0
#include "popctl/submit.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "common/contract/exit_code.h"
#include "common/sys/fd.h"
#include "common/sys/own_program.h"
#include "popctl/commands.h"
#include "popctl/follow.h"
#include "popctl/report.h"
#include "popctl/rpc/exit_codes.h"
#include "popctl/show_job.h"
#include "poprun/cli/shell_words.h"
#include "runner/record_codec.h"

namespace pop::popctl {
namespace {

constexpr const char* kWordsVariable = "POPCTL_SUBMIT";

std::vector<std::string> wordsBack(const Command& command) {
  std::vector<std::string> words{"--from-popctl", "--reconnect", std::to_string(command.common.reconnect_s)};
  if (command.submit.wait) words.emplace_back("--wait");
  if (command.common.json) words.emplace_back("--json");
  if (command.common.quiet) words.emplace_back("--quiet");
  if (command.common.timeout_s)
    words.insert(words.end(), {"--timeout", std::to_string(*command.common.timeout_s)});
  if (!command.submit.allocation.empty())
    words.insert(words.end(), {"--allocation", command.submit.allocation});
  return words;
}

std::vector<std::string> poprunWords(const Command& command, const ServerSettings& server) {
  const SubmitOptions& submit = command.submit;
  std::vector<std::string> words{"poprun", "--controller=" + server.address};
  if (!server.tls.empty()) words.push_back("--controller-tls=" + server.tls);
  if (!submit.attach) words.emplace_back("--detach");
  if (!submit.name.empty()) words.push_back("--name=" + submit.name);
  if (submit.held) words.emplace_back("--held");
  if (submit.priority) words.push_back("--priority=" + std::to_string(*submit.priority));
  if (submit.num_hosts) words.push_back("--num-hosts=" + std::to_string(*submit.num_hosts));
  if (submit.no_wait) words.emplace_back("--no-wait");
  words.insert(words.end(), command.rest.begin(), command.rest.end());
  return words;
}

// popctl's own variable is none of the job's.
void removeOwnVariable(v1::JobSpec& spec) {
  const auto remove = [](auto& variables) {
    for (int i = variables.size() - 1; i >= 0; --i) {
      if (variables.Get(i).name() == kWordsVariable) variables.DeleteSubrange(i, 1);
    }
  };
  remove(*spec.mutable_environment());
  for (v1::Program& program : *spec.mutable_programs()) remove(*program.mutable_environment());
}

Result<v1::SubmitRequest> readRequest(int descriptor) {
  const sys::Fd file(descriptor);
  POP_ASSIGN_OR_RETURN(const std::string bytes, sys::readAll(file, "what poprun submits"));
  v1::SubmitRequest request;
  if (!request.ParseFromString(bytes)) return invalidArgument("what poprun submits cannot be read");
  removeOwnVariable(*request.mutable_spec());
  return request;
}

Result<v1::SubmitReply> submitted(ControllerClient& client, const v1::SubmitRequest& request) {
  v1::SubmitReply reply;
  POP_RETURN_IF_ERROR(withReconnects(client, [&](const std::function<void()>&) -> Status {
    POP_ASSIGN_OR_RETURN(reply, client.submit(request));
    return {};
  }));
  return reply;
}

int show(const Command& command, ControllerClient& client, const v1::SubmitRequest& request,
         const v1::JobInfo& job) {
  const Result<Options> output = outputOptions(command.rest);
  if (!output.ok()) return unusable(output.status());
  const Result<model::JobSpec> spec = runner::decodeSpec(request.spec().SerializeAsString());
  if (!spec.ok()) return failed(command, spec.status());
  if (!command.common.quiet)
    std::fprintf(stderr, "popctl: submitted as job %lld\n", static_cast<long long>(job.id()));
  return showJob(client, job, spec.value(), output.value(), {.controls = true});
}

int waitFor(Command command, ControllerClient& client, const v1::JobInfo& job) {
  command.words = "wait job";
  command.object = std::to_string(job.id());
  command.common.quiet = true;
  command.common.timeout_s.reset();
  return waitJob(command, client);
}

}  // namespace

int submitJob(const Command& command, const ServerSettings& server) {
  ::setenv(kWordsVariable, cli::quoteShell(wordsBack(command)).c_str(), 1);
  std::vector<std::string> words = poprunWords(command, server);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string program = sys::ownProgram("poprun");
  ::execv(program.c_str(), argv.data());
  return failed(command, errnoStatus("starting " + program, errno));
}

std::vector<std::string> wordsFromPopctl() {
  const char* const text = std::getenv(kWordsVariable);
  if (text == nullptr) return {};
  Result<std::vector<std::string>> words = cli::splitShell(text);
  ::unsetenv(kWordsVariable);
  return words.ok() ? std::move(*words) : std::vector<std::string>();
}

int submitRequest(const Command& command, ControllerClient& client) {
  Result<v1::SubmitRequest> request = readRequest(command.submit.request_fd);
  if (!request.ok()) return exitCodeForCaller(command, unusable(request.status()));
  request->set_allocation(command.submit.allocation);
  Command named = command;
  named.object = request.value().name();
  const Result<v1::SubmitReply> reply = submitted(client, request.value());
  if (!reply.ok()) return exitCodeForCaller(command, failed(named, reply.status()));
  const v1::JobInfo& job = reply.value().job();
  if (command.submit.attach) return show(named, client, request.value(), job);
  const bool in_json = command.common.json && !command.submit.wait;
  const int printed = in_json ? printJson(reply.value()) : printText(std::to_string(job.id()) + '\n');
  return printed != 0 || !command.submit.wait ? printed : waitFor(named, client, job);
}

int exitCodeForCaller(const Command& command, int exit_code) {
  return command.submit.from_popctl ? exit_code : contract::kExitLauncherFailed;
}

}  // namespace pop::popctl
