// SPDX-License-Identifier: Apache-2.0
#include "agent/job/job_agent.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "agent/job/examination.h"
#include "agent/job/host_address.h"
#include "common/contract/exit_code.h"
#include "common/contract/version.h"
#include "common/sys/host_name.h"
#include "common/sys/process_setup.h"
#include "common/sys/taken_stdio.h"
#include "common/wire/agent_codec.h"
#include "common/wire/stream_call.h"

namespace pop::agent {
namespace {

constexpr std::chrono::milliseconds kHelloTimeout{30000};

// Time for the last messages to be sent.
constexpr std::chrono::milliseconds kLastWords{1000};

wire::v1::Report welcome(const wire::v1::Hello& hello) {
  wire::v1::Report report;
  wire::v1::Welcome* const welcome = report.mutable_welcome();
  welcome->set_protocol(contract::kAgentProtocol);
  welcome->set_version(contract::kVersion);
  welcome->set_host_name(sys::hostName());
  welcome->set_pid(::getpid());
  if (hello.has_examination()) *welcome->mutable_condition() = examineHost(hello);
  return report;
}

OutputPump::Mode modeOf(bool whole_lines) {
  return whole_lines ? OutputPump::Mode::kLines : OutputPump::Mode::kRaw;
}

}  // namespace

JobAgent::JobAgent(os::EpollLoop& loop, wire::RunCall& call, keeper::Keeper keeper)
    : loop_(loop), call_(call), keeper_(std::move(keeper)) {
  call_.listen({.command = [this](const wire::v1::Command& command) { receive(command); },
                .closed =
                    [this] {
                      giveUp({Code::kUnavailable, "the launcher is gone"});
                    }});
}

void JobAgent::giveUp(const Status& why) {
  if (session_) return session_->linkLost(why);
  over(why);
}

// Messages that arrived together are delivered together, even after the loop has been stopped.
void JobAgent::receive(const wire::v1::Command& command) {
  if (over_) return;
  if (!session_) {
    if (command.has_hello()) return begin(command.hello());
    return over({Code::kInvalidArgument, "the first command is not Hello"});
  }
  NumberedCommand decoded;
  const Status status = wire::decode(command, decoded);
  if (!status.ok()) return giveUp(status);
  session_->receive(std::move(decoded));
}

void JobAgent::begin(const wire::v1::Hello& hello) {
  if (const Status prepared = prepare(hello); !prepared.ok()) return over(prepared);
  call_.send(welcome(hello));
  session_->serve(*agent_);
}

// Whatever can fail comes before the session, which must have its agent when the stream ends.
Status JobAgent::prepare(const wire::v1::Hello& hello) {
  if (hello.protocol() != contract::kAgentProtocol)
    return failedPrecondition("popdist-agent here is version " + std::string(contract::kVersion) +
                              ", poprun is version " + hello.version() +
                              ": install the same version on both");
  if (!hello.executable_cache().empty())
    POP_RETURN_IF_ERROR(LocalAgent::makeExecutableCache(hello.executable_cache()));
  POP_ASSIGN_OR_RETURN(sys::Pipe pipe, sys::makePipe());
  POP_RETURN_IF_ERROR(sys::setNonBlocking(pipe.write_end.get()));
  input_ = std::make_unique<PipeInput>(loop_, std::move(pipe));
  LinkTimes times;
  if (hello.silence_ms() > 0) times.silence = std::chrono::milliseconds(hello.silence_ms());
  ReportLink& reports = *this;
  session_ = std::make_unique<AgentSession>(
      loop_, reports, *input_, [this](const Status& why) { over(why); }, times);
  const AddressHints hints = addressHints(hello);
  agent_ = std::make_unique<LocalAgent>(
      loop_, std::move(*std::exchange(keeper_, std::nullopt)), *session_,
      OutputPump::Modes{modeOf(hello.whole_lines_out()), modeOf(hello.whole_lines_err())},
      AgentSurroundings{.stdin_source = input_->source(),
                        .stdin_unread = [this] { session_->inputUnread(); },
                        .address = [hints] { return hostAddress(hints); }});
  if (!hello.job_directory().empty()) agent_->removeAtEnd(hello.job_directory());
  return {};
}

void JobAgent::send(NumberedReport report) {
  call_.send(wire::encode(report));
}

void JobAgent::over(const Status& why) {
  if (std::exchange(over_, true)) return;
  outcome_ = why;
  loop_.stop();
}

void JobAgent::shutDown() {
  const Status ended = agent_ ? agent_->shutDown() : keeper::endKeeper(std::move(*keeper_));
  if (outcome_.code() == Code::kUnavailable) return call_.finish(ended);
  call_.finish(ended.ok() ? outcome_ : Status(outcome_.code(), outcome_.message() + "; " + ended.message()));
}

int runStdioAgent(Timeout timeout) {
  Result<keeper::Keeper> keeper = keeper::forkKeeper(STDIN_FILENO);
  if (!keeper.ok()) {
    std::fprintf(stderr, "popdist-agent: %s\n", keeper.status().message().c_str());
    return contract::kExitLauncherFailed;
  }
  const Status ready = sys::setUpForJobs();
  Result<sys::Stdio> stdio = ready.ok() ? sys::takeStdio() : ready;
  if (!stdio.ok()) {
    std::fprintf(stderr, "popdist-agent: %s\n", stdio.status().message().c_str());
    static_cast<void>(keeper::endKeeper(std::move(*keeper)));
    return contract::kExitLauncherFailed;
  }
  os::EpollLoop loop;
  wire::StreamRunCall call(loop, std::move(stdio->in), std::move(stdio->out));
  JobAgent job(loop, call, std::move(*keeper));
  // Systems that signal all processes of a job, as systemd and batch systems do, have signalled poprun as
  // well. poprun ends the job, with its grace period, and thereby this agent's stream.
  loop.watchSignals({SIGTERM, SIGINT, SIGHUP}, [&job](const os::Signal& signal) {
    if (job.accepted()) return;
    job.giveUp({Code::kAborted, "popdist-agent received signal " + std::to_string(signal.number)});
  });
  if (timeout == Timeout::kShort) {
    loop.postAfter(kHelloTimeout, [&job, &loop] {
      if (!job.accepted()) loop.stop();
    });
  }
  loop.run();
  job.shutDown();
  call.flush(kLastWords);
  return 0;
}

}  // namespace pop::agent
