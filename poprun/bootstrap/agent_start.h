// SPDX-License-Identifier: Apache-2.0
// How an agent comes to run on the far side: one command, whatever the login shell, that finds the agent or
// takes a copy of it from its stdin, says so on stdout, and becomes it.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "poprun/bootstrap/ssh/dial.h"
#include "poprun/bootstrap/ssh/ssh_options.h"
#include "poprun/bootstrap/ssh/wait.h"

namespace pop {

/// What makes a copy known again.
struct AgentFile {
  std::string bytes;
  std::string sha256;  ///< 64 hexadecimal digits
};

/// The local agent's bytes and hash, found out when the first host wants it. From any thread.
class AgentSource {
 public:
  explicit AgentSource(std::string path) : path_(std::move(path)) {}
  const Result<AgentFile>& get();

 private:
  std::string path_;
  std::mutex mutex_;
  std::optional<Result<AgentFile>> file_;
};

/// kInvalidArgument if a path or argument cannot be put into the command safely.
Result<std::string> agentCommand(const AgentProgram& agent);

/// Speaks with that command over `stream`, its stdin and stdout, until the agent is what reads and writes
/// there. Nothing of what the agent says is taken. kUnavailable with an empty message: the stream ended
/// first.
Status startAgent(int stream, AgentSource& source, Wait& wait, const PhaseReport& phase);

}  // namespace pop
