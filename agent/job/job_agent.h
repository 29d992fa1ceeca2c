// SPDX-License-Identifier: Apache-2.0
// The agent of one job, as a process: its call on one side, this host's agent on the other. The process lives
// as long as the job.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agent/core/agent_session.h"
#include "agent/io/pipe_input.h"
#include "agent/job/local_agent.h"
#include "agent/keeper/keeper.h"
#include "common/os/epoll_loop.h"
#include "common/wire/agent_call.h"

namespace pop::agent {

class JobAgent final : private ReportLink {
 public:
  /// `call` outlives the agent.
  JobAgent(os::EpollLoop& loop, wire::RunCall& call, keeper::Keeper keeper);

  /// Ends the job as if the controller were gone.
  void giveUp(const Status& why);

  bool accepted() const { return session_ != nullptr; }

  /// Ends what is left of the job, and then the call. The loop must have been stopped.
  void shutDown();

 private:
  void receive(const wire::v1::Command& command);
  void begin(const wire::v1::Hello& hello);
  Status prepare(const wire::v1::Hello& hello);
  void over(const Status& why);

  void send(NumberedReport report) override;
  void close() override {}

  os::EpollLoop& loop_;
  wire::RunCall& call_;
  std::optional<keeper::Keeper> keeper_;
  std::unique_ptr<PipeInput> input_;
  std::unique_ptr<AgentSession> session_;
  std::unique_ptr<LocalAgent> agent_;
  bool over_ = false;
  Status outcome_;  ///< why; the first reason is the one that the launcher is told
};

/// Time that an agent waits for its job. A launcher that started the agent and sends nothing has died; an
/// agent that was started in advance dies with its service.
enum class Timeout : std::uint8_t { kShort, kForEver };

/// Serves one job over stdin and stdout, and returns the process's exit code. Call it while the process has
/// only one thread.
int runStdioAgent(Timeout timeout);

}  // namespace pop::agent
