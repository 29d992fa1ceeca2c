// SPDX-License-Identifier: Apache-2.0
// Starts an agent on the remote host: one command, for any login shell, that finds the agent or receives a
// copy of it on stdin, reports progress on stdout, and then executes the agent.
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

/// Identifies a copy of the agent.
struct AgentFile {
  std::string bytes;
  std::string sha256;  ///< 64 hexadecimal digits
};

/// The local agent's bytes and hash, read when the first host needs them. Safe to call from any thread.
class AgentSource {
 public:
  explicit AgentSource(std::string path) : path_(std::move(path)) {}
  const Result<AgentFile>& get();

 private:
  std::string path_;
  std::mutex mutex_;
  std::optional<Result<AgentFile>> file_;
};

/// Builds that command. kInvalidArgument if a path or argument cannot be quoted safely.
Result<std::string> agentCommand(const AgentProgram& agent);

/// Talks to that command over `stream`, its stdin and stdout, until the agent runs. Consumes none of the
/// agent's own output. kUnavailable with an empty message: the stream ended first.
Status startAgent(int stream, AgentSource& source, Wait& wait, const PhaseReport& phase);

}  // namespace pop
