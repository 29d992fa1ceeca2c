// SPDX-License-Identifier: Apache-2.0
#include "popctl/report.h"

#include <cstdio>

#include "common/base/text.h"
#include "common/wire/message_json.h"
#include "popctl/rpc/exit_codes.h"

namespace pop::popctl {
namespace {

std::string nameOf(const Command& command) {
  return command.words + (command.object.empty() ? "" : " (" + printable(command.object) + ')');
}

// A server's words may have several lines, and anything else in them.
std::string lines(const std::string& words) {
  std::string text;
  for (const std::string& line : split(words, '\n')) text += (text.empty() ? "" : "\n") + printable(line);
  return text;
}

}  // namespace

int failed(const Command& command, const Status& status) {
  std::fprintf(stderr, "%s: failed: %s\n", nameOf(command).c_str(), lines(status.message()).c_str());
  return exitCodeOf(status);
}

int unusable(const Status& status) {
  std::fprintf(stderr, "popctl: %s\n", lines(status.message()).c_str());
  return status.code() == Code::kInvalidArgument ? kExitUsage : kExitRefused;
}

int succeeded(const Command& command) {
  return command.common.quiet ? 0 : printText(nameOf(command) + ": success.\n");
}

int printText(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  std::perror("popctl: writing to stdout");
  return kExitRefused;
}

int printJson(const google::protobuf::MessageLite& message) {
  const Result<std::string> json = wire::toJson(message);
  return json.ok() ? printText(json.value() + '\n') : unusable(json.status());
}

}  // namespace pop::popctl
