// SPDX-License-Identifier: Apache-2.0
#include "popctl/app.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <variant>

#include "common/base/text.h"
#include "common/contract/version.h"
#include "common/sys/fd.h"
#include "common/sys/private_memory.h"
#include "common/sys/unix_socket.h"
#include "common/tls/user_tls.h"
#include "popctl/access/access_commands.h"
#include "popctl/commands.h"
#include "popctl/completion.h"
#include "popctl/jobs/several.h"
#include "popctl/jobs/show_job.h"
#include "popctl/jobs/submit.h"
#include "popctl/pods/hold_partition.h"
#include "popctl/pods/pod_commands.h"
#include "popctl/pods/vipu_key_file.h"
#include "popctl/pods/vipu_names.h"
#include "popctl/popctl_options.h"
#include "popctl/report.h"
#include "popctl/rpc/exit_codes.h"
#include "popctl/settings.h"
#include "popctl/token_file.h"

namespace pop::popctl {
namespace {

constexpr double kTimeoutSeconds = 30;

// Who has a token needs no certificate.
Result<tls::TlsFiles> authorityOf(const ServerSettings& settings) {
  Result<std::string> authority = sys::readFile(settings.tls + "/ca.pem");
  if (authority.ok()) return tls::tlsFilesOf(std::move(*authority), "", "");
  return Status(authority.code(),
                settings.tls_option + ' ' + settings.tls + ": " + authority.status().message());
}

int complete(const Command& command) {
  const std::string text = completionFor(command.object);
  if (!text.empty()) return printText(text);
  return unusable(invalidArgument(inQuotes(command.object) + " is not bash, zsh or fish"));
}

int ask(const Command& command, ControllerClient& client) {
  switch (command.action) {
    case Action::kListJobs:
      return listJobs(command, client);
    case Action::kListHosts:
      return listHosts(command, client);
    case Action::kCancelJob:
    case Action::kHoldJob:
    case Action::kReleaseJob:
    case Action::kForgetJob:
      return askOfSeveral(command, client);
    case Action::kWaitJob:
      return waitJob(command, client);
    case Action::kLogsJob:
      return logsJob(command, client);
    case Action::kAttachJob:
      return attachJob(command, client);
    case Action::kBackup:
      return backup(command, client);
    case Action::kTop:
      return top(command, client);
    case Action::kSetQuota:
    case Action::kListQuotas:
    case Action::kRemoveQuota:
      return askOfQuotas(command, client);
    default:
      return askOnce(command, client);
  }
}

int carryOut(const Command& command, const Result<ServerSettings>& settings) {
  if (!settings.ok()) return unusable(settings.status());
  if (command.action == Action::kSubmitJob) return submitJob(command, settings.value());
  Result<Server> server = serverOf(command, settings.value());
  if (!server.ok()) return unusable(server.status());
  if (isOfPods(command.action)) {
    PodsClient client(std::move(*server), timeoutOf(command));
    return askOfPods(command, client);
  }
  if (isOfAccess(command.action)) {
    AccessClient client(std::move(*server), timeoutOf(command));
    return askOfAccess(command, client);
  }
  ControllerClient client(std::move(*server), timeoutOf(command));
  return ask(command, client);
}

int runAsPopctl(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"--version"})
    return printText(std::string("popctl ") + contract::kVersion + '\n');
  const ParsedCommand parsed = parseCommand(arguments);
  if (const int* done = std::get_if<int>(&parsed)) return *done;
  const Command& command = std::get<Command>(parsed);
  if (command.action == Action::kCompletion) return complete(command);
  return carryOut(command, serverSettings(command.common, ownSurroundings()));
}

int printServerVersion(const VipuWords& words) {
  const Command command{.words = "server version"};
  const Result<ServerSettings> settings = vipuServerSettings(words, {}, ownSurroundings());
  if (!settings.ok()) return unusable(settings.status());
  Result<Server> server = serverOf(command, settings.value());
  if (!server.ok()) return unusable(server.status());
  PodsClient client(std::move(*server), timeoutOf(command));
  const Result<virmgrpc::VersionReply> reply = client.version();
  if (!reply.ok()) return failed(command, reply.status());
  return printText("version: " + printable(reply.value().version()) + "\nhost: " + settings.value().address +
                   '\n');
}

// As poprun says, and nobody's configuration: V-IPU's servers speak without TLS, unless a variable says else.
int holdForPoprun(const std::vector<std::string>& arguments) {
  const std::variant<HoldOptions, int> parsed = parseHoldPartition(arguments);
  if (const int* done = std::get_if<int>(&parsed)) return *done;
  const HoldOptions& options = std::get<HoldOptions>(parsed);
  const Command command{.common = options.common};
  Surroundings here = ownSurroundings();
  here.file = [](const std::string& path) { return Status(Code::kNotFound, path); };
  here.listens = nullptr;
  const Result<ServerSettings> settings = serverSettings(options.common, here);
  if (!settings.ok()) return unusable(settings.status());
  Result<Server> server = serverOf(command, settings.value());
  if (!server.ok()) return unusable(server.status());
  server->options = "--vipu-server-host, --vipu-server-port";
  server->timeout_option = "--vipu-server-timeout";
  PodsClient client(std::move(*server), timeoutOf(command));
  return options.only_remove ? removeHeldPartition(options, client) : holdPartition(options, client);
}

int runAsVipu(const std::vector<std::string>& arguments) {
  const Result<VipuWords> words = parseVipuWords(arguments);
  if (!words.ok()) return unusable(words.status());
  if (words.value().server_version) return printServerVersion(words.value());
  if (words.value().own_version) return printText(std::string("version: ") + contract::kVersion + '\n');
  ParsedCommand parsed = parseCommand(words.value().rest);
  if (const int* done = std::get_if<int>(&parsed)) return *done;
  Command& command = std::get<Command>(parsed);
  if (command.action == Action::kCompletion) return complete(command);
  if (words.value().json) command.common.json = command.common.vipu_json = true;
  return carryOut(command, vipuServerSettings(words.value(), command.common, ownSurroundings()));
}

}  // namespace

Result<Server> serverOf(const Command& command, const ServerSettings& settings) {
  Server server{.address = settings.address,
                .tls = std::nullopt,
                .reconnect = std::chrono::seconds(command.common.reconnect_s)};
  server.api_user_id = settings.api_user_id;
  server.api_access_key = settings.api_access_key;
  if (!settings.token_file.empty()) {
    POP_RETURN_IF_ERROR(checkSendsToken(settings.address, !settings.tls.empty()));
    POP_ASSIGN_OR_RETURN(server.token, readTokenFile(settings.token_option, settings.token_file));
  }
  if (settings.tls.empty()) return server;
  const bool has_secret = !server.token.empty() || !server.api_access_key.empty();
  Result<tls::TlsFiles> files =
      has_secret ? authorityOf(settings) : tls::loadUserTls(settings.tls_option, settings.tls);
  if (!files.ok()) return files.status();
  server.tls = std::move(*files);
  for (const std::string& warning : server.tls->warnings)
    std::fprintf(stderr, "popctl: warning: %s\n", printable(warning).c_str());
  return server;
}

std::chrono::milliseconds timeoutOf(const Command& command) {
  const double timeout_s = command.common.timeout_s.value_or(kTimeoutSeconds);
  return std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1000));
}

Surroundings ownSurroundings() {
  return {.variable = [](const char* name) { return std::getenv(name); },
          .file = [](const std::string& path) { return sys::readFile(path); },
          .listens = [](const std::string& path) { return sys::connectPath(path).ok(); },
          .check_private = checkKeyIsPrivate};
}

int runApp(const std::string& program, const std::vector<std::string>& arguments) {
  static_cast<void>(sys::keepMemoryPrivate().ok());  // it may have a token, and a key
  try {
    if (isPoprunsName(program)) return runAsPoprun(program, arguments);
    if (isHoldPartition(arguments)) return holdForPoprun(arguments);
    return isVipuName(program) ? runAsVipu(arguments) : runAsPopctl(arguments);
  } catch (const std::exception& error) {  // a library's: no memory, no descriptors
    std::fprintf(stderr, "popctl: %s (see `ulimit -n` and `ulimit -v`)\n", error.what());
    return kExitRefused;
  }
}

}  // namespace pop::popctl
