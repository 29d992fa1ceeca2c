// SPDX-License-Identifier: Apache-2.0
#include "popctl/app.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <variant>

#include "common/base/text.h"
#include "common/contract/version.h"
#include "common/sys/private_memory.h"
#include "popctl/access/access_commands.h"
#include "popctl/commands.h"
#include "popctl/completion.h"
#include "popctl/jobs/several.h"
#include "popctl/jobs/show_job.h"
#include "popctl/jobs/submit.h"
#include "popctl/pods/pod_commands.h"
#include "popctl/pods/vipu_names.h"
#include "popctl/popctl_options.h"
#include "popctl/report.h"
#include "popctl/rpc/exit_codes.h"
#include "popctl/server_of.h"
#include "popctl/settings.h"

namespace pop::popctl {
namespace {

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

int runApp(const std::string& program, const std::vector<std::string>& arguments) {
  static_cast<void>(sys::keepMemoryPrivate().ok());  // it may have a token, and a key
  try {
    return isVipuName(program) ? runAsVipu(arguments) : runAsPopctl(arguments);
  } catch (const std::exception& error) {  // a library's: no memory, no descriptors
    std::fprintf(stderr, "popctl: %s (see `ulimit -n` and `ulimit -v`)\n", error.what());
    return kExitRefused;
  }
}

}  // namespace pop::popctl
