// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/local_bootstrapper.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <utility>

#include "common/model/end_times.h"
#include "common/sys/unix_socket.h"

namespace pop {
namespace {

using namespace std::chrono_literals;

bool isStopped(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

// Stopped, it would not notice that its stream is closed. Sent to one that runs, SIGCONT would take away the
// stop by which a leak checker, or a debugger, attaches.
void waitAwake(const os::HelperProgram& agent, Clock::time_point deadline) {
  constexpr std::chrono::milliseconds kBetweenLooks = 50ms;
  do {
    if (isStopped(agent.pid())) ::kill(agent.pid(), SIGCONT);
  } while (!agent.endsWithin(kBetweenLooks) && Clock::now() < deadline);
}

}  // namespace

LocalBootstrapper::~LocalBootstrapper() {
  const Clock::time_point deadline = end_by_.value_or(Clock::now() + kAgentEndTimeout);
  for (AgentProcess& agent : agents_) {
    if (agent.far_end.valid()) loop_.unwatch(agent.program.end().get());
    if (agent.errors.valid()) loop_.unwatch(agent.errors.get());
    if (agent.program.pid() > 0) waitAwake(agent.program, deadline);
  }
}

void LocalBootstrapper::start(BootstrapEvents events) {
  events_ = std::move(events);
  for (int host = 0; host < static_cast<int>(agents_.size()); ++host)
    loop_.post([this, host] { startAgent(host); });
}

void LocalBootstrapper::startAgent(int host) {
  AgentProcess& agent = agents_[static_cast<std::size_t>(host)];
  Result<std::pair<sys::Fd, sys::Fd>> ends = sys::socketPair();
  if (!ends.ok()) return events_.failed(host, ends.status());
  Result<sys::Pipe> errors = sys::makePipe();
  if (!errors.ok()) return events_.failed(host, errors.status());
  if (const Status set = sys::setNonBlocking(ends->first.get()); !set.ok()) return events_.failed(host, set);
  Result<os::HelperProgram> program =
      os::HelperProgram::start(command_, {ends->second.get(), ends->second.get(), errors->write_end.get()});
  if (!program.ok()) return events_.failed(host, program.status());
  agent.program = std::move(*program);
  agent.errors = std::move(errors->read_end);
  loop_.watchReadable(agent.errors.get(), [this, host] { readErrors(host); });
  watchEnd(host, std::move(ends->second));
  events_.reached(host, {std::move(ends->first), {}, {}});
}

// If a system call filter forbids it, only the end of the stream tells the agent to end.
void LocalBootstrapper::watchEnd(int host, sys::Fd far_end) {
  AgentProcess& agent = agents_[static_cast<std::size_t>(host)];
  if (!agent.program.end().valid()) return;
  agent.far_end = std::move(far_end);
  loop_.watchReadable(agent.program.end().get(), [this, host] { ended(host); });
}

void LocalBootstrapper::ended(int host) {
  AgentProcess& agent = agents_[static_cast<std::size_t>(host)];
  loop_.unwatch(agent.program.end().get());
  const sys::Fd closed_after_the_event = std::move(agent.far_end);
  const std::optional<int> status = agent.program.wait(0ms);
  events_.ended(host, status && WIFEXITED(*status) ? WEXITSTATUS(*status) : kKilledBySignal);
}

void LocalBootstrapper::readErrors(int host) {
  AgentProcess& agent = agents_[static_cast<std::size_t>(host)];
  std::array<char, 4096> chunk{};
  const ssize_t got = ::read(agent.errors.get(), chunk.data(), chunk.size());
  if (got < 0) return;
  agent.unfinished.append(chunk.data(), static_cast<std::size_t>(got));
  for (std::size_t end = 0; (end = agent.unfinished.find('\n')) != std::string::npos;) {
    events_.said(host, agent.unfinished.substr(0, end));
    agent.unfinished.erase(0, end + 1);
  }
  if (got > 0) return;
  loop_.unwatch(agent.errors.get());
  agent.errors.reset();
}

}  // namespace pop
