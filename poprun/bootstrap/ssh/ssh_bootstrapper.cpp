// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_bootstrapper.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <latch>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/check.h"
#include "common/sys/blocked_signals.h"
#include "common/sys/unix_socket.h"
#include "poprun/bootstrap/agent_start.h"
#include "poprun/bootstrap/command_log.h"
#include "poprun/bootstrap/rsh_process.h"
#include "poprun/bootstrap/ssh/byte_pump.h"
#include "poprun/bootstrap/ssh/ssh_config.h"
#include "poprun/bootstrap/ssh/ssh_session.h"
#include "poprun/bootstrap/ssh/ssh_stream.h"
#include "poprun/bootstrap/ssh/wait.h"

namespace pop {
namespace {

// Waiting for a host costs a thread and nothing else; more hosts than this take turns.
constexpr std::size_t kMaxThreads = 256;
constexpr std::chrono::milliseconds kEndTimeout{1000};

// Limit for a host's own messages, which are queued in memory while the reader of our stderr is slow.
constexpr std::size_t kMostSaidBytes = 4 << 20;
constexpr std::size_t kBytesBesideLine = 128;

Status noThread(const std::system_error& error) {
  return {Code::kResourceExhausted, "poprun cannot start a thread to reach it: " + error.code().message() +
                                        " (see `ulimit -u`, and pids.max of poprun's cgroup)"};
}

// While it lives, it takes the place of a process more, where the system allows few: of the ssh that is to
// read the configuration.
class Place {
 public:
  Place() : thread_([this] { gone_.wait(); }) {}
  ~Place() {
    gone_.count_down();
    thread_.join();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  std::latch gone_{1};
  std::thread thread_;
};

// True if time can help: not if a user must change a key, a setting or a program first.
bool mayHeal(Code code) {
  return code == Code::kUnavailable || code == Code::kDeadlineExceeded || code == Code::kNotFound ||
         code == Code::kUnknown;
}

constexpr std::chrono::milliseconds kBetweenPrograms{1000};

// True if the words of an ssh are about a host that may come up yet.
bool saysNotUp(const std::string& words) {
  constexpr std::array kWords{"Could not resolve hostname", "Connection refused",   "No route to host",
                              "Network is unreachable",     "Connection timed out", "Connection closed by",
                              "Connection reset by"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](const char* each) { return words.find(each) != std::string::npos; });
}

// Carries events to the loop's thread until the bootstrapper is gone.
class Reporter {
 public:
  Reporter(Loop& loop, BootstrapEvents events)
      : loop_(loop), shared_(std::make_shared<Shared>(Shared{std::move(events), true})) {}
  ~Reporter() { shared_->alive = false; }
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  void reached(int host, ReachedHost reached) {
    auto kept = std::make_shared<ReachedHost>(std::move(reached));
    post([host, kept](const BootstrapEvents& events) { events.reached(host, std::move(*kept)); });
  }
  void failed(int host, Status why) {
    post([host, why = std::move(why)](const BootstrapEvents& events) { events.failed(host, why); });
  }
  void phase(int host, const std::string& phase) {
    post([host, phase](const BootstrapEvents& events) { events.phase(host, phase); });
  }
  void ended(int host, int exit_code) {
    post([host, exit_code](const BootstrapEvents& events) {
      if (events.ended) events.ended(host, exit_code);
    });
  }
  void said(int host, const std::string& line) {
    post([host, line](const BootstrapEvents& events) { events.said(host, line); });
  }

 private:
  struct Shared {
    BootstrapEvents events;
    bool alive;  ///< on the loop's thread
  };

  template <typename Call>
  void post(Call call) {
    loop_.post([shared = shared_, call = std::move(call)] {
      if (shared->alive) call(shared->events);
    });
  }

  Loop& loop_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace

class SshBootstrapper::Run {
 public:
  Run(Loop& loop, std::vector<std::string> hosts, SshOptions options, AgentProgram agent)
      : loop_(loop),
        hosts_(std::move(hosts)),
        options_(std::move(options)),
        agent_(std::move(agent)),
        source_(agent_.local_file),
        slots_(options_.max_parallel) {}

  ~Run() {
    cancellation_.cancel();
    slots_.cancel();
    for (std::thread& each : threads_) each.join();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void start(BootstrapEvents events) {
    POP_CHECK(!reporter_);
    reporter_ = std::make_unique<Reporter>(loop_, std::move(events));
    const Status started = startThreads();
    if (started.ok()) return;
    for (int host = 0; host < static_cast<int>(hosts_.size()); ++host) reporter_->failed(host, started);
  }

 private:
  // If the system cannot create all threads, hosts take turns with those that exist.
  Status startThreads() {
    const sys::BlockedSignals blocked;  // in the threads: signals are the loop's business
    const std::size_t count = std::min(hosts_.size(), kMaxThreads);
    try {
      pump_ = std::make_unique<BytePump>();
      threads_.emplace_back([this] { reachSome(); });
      const Place place;
      while (threads_.size() < count) threads_.emplace_back([this] { reachSome(); });
    } catch (const std::system_error& error) {
      if (threads_.empty()) return noThread(error);
    }
    return {};
  }

  void reachSome() {
    for (;;) {
      const int host = next_++;
      if (host >= static_cast<int>(hosts_.size())) return;
      Result<ReachedHost> reached = reachByTries(host);
      if (reached.ok()) {
        reporter_->reached(host, std::move(reached).value());
      } else if (reached.code() != Code::kCancelled) {
        reporter_->failed(host, reached.status());
      }
    }
  }

  Result<ReachedHost> reachByTries(int host) {
    for (int tries = 0;; ++tries) {
      Result<ReachedHost> reached = reach(host);
      if (reached.ok() || !mayHeal(reached.code()) || tries == options_.more_tries) return reached;
      reporter_->said(host, reached.status().message() + "; trying again (" + std::to_string(tries + 1) +
                                " of " + std::to_string(options_.more_tries) + ')');
      POP_RETURN_IF_ERROR(Wait(cancellation_, options_.before_next_try).pause(options_.before_next_try));
    }
  }

  Result<ReachedHost> reach(int host) {
    POP_ASSIGN_OR_RETURN(const SshTarget target, parseSshTarget(hosts_[static_cast<std::size_t>(host)]));
    POP_ASSIGN_OR_RETURN(const std::string command, agentCommand(agent_));
    if (!options_.rsh.empty()) return reachByProgramPatiently(host, target, command);
    Wait wait(cancellation_, std::chrono::milliseconds(options_.connect_timeout_ms));
    POP_ASSIGN_OR_RETURN(SshHostConfig config, configOf(target, wait));
    if (!config.needs_program.empty()) return reachByProgramPatiently(host, target, command);
    auto session = std::make_unique<SshSession>(target, options_, std::move(config));
    Result<ReachedHost> reached = reachBySession(host, std::move(session), wait, command);
    if (reached.code() != Code::kUnimplemented) return reached;
    Result<ReachedHost> by_program = reachByProgram(host, target, command);
    if (by_program.ok()) return by_program;
    return Status(by_program.code(), reached.status().message() + "; " + by_program.status().message());
  }

  // An ssh that reads its files is as much work for our processors as a key exchange.
  Result<SshHostConfig> configOf(const SshTarget& target, Wait& wait) {
    POP_RETURN_IF_ERROR(takeSlot(wait));
    Result<SshHostConfig> config = sshConfigOf(target, options_, wait);
    slots_.release();
    return config;
  }

  // The time until there is one does not count.
  Status takeSlot(Wait& wait) {
    const Wait::Clock::time_point queued = Wait::Clock::now();
    if (!slots_.acquire()) return {Code::kCancelled, "it was given up"};
    wait.extend(Wait::Clock::now() - queued);
    return {};
  }

  Result<ReachedHost> reachBySession(int host, std::unique_ptr<SshSession> session, Wait& wait,
                                     const std::string& command) {
    const auto phase = [this, host](const std::string& name) { reporter_->phase(host, name); };
    POP_RETURN_IF_ERROR(session->configure());
    ReachedHost reached;
    Status connected = connect(*session, wait, phase, reached);
    if (connected.code() == Code::kDeadlineExceeded) {
      return Status(connected.code(), connected.message() + " (" + kConnectTimeoutOption + ')');
    }
    if (!connected.ok()) return connected;
    Wait start(cancellation_, std::chrono::milliseconds(options_.start_timeout_ms));
    POP_RETURN_IF_ERROR(session->execute(command, start).during("starting the agent"));
    const auto log = std::make_shared<CommandLog>();
    POP_ASSIGN_OR_RETURN(auto ends, sys::socketPair());
    POP_RETURN_IF_ERROR(sys::setNonBlocking(ends.first.get()));
    POP_RETURN_IF_ERROR(sys::setNonBlocking(ends.second.get()));
    reached.stream = std::move(ends.first);
    pump_->add(std::make_unique<SshStream>(std::move(session), std::move(ends.second), eventsOf(host, log)));
    POP_RETURN_IF_ERROR(startOn(host, reached.stream.get(), start, *log));
    return reached;
  }

  Status connect(SshSession& session, Wait& wait, const PhaseReport& phase, ReachedHost& reached) {
    const auto dial = options_.waits_for_hosts ? dialSshPatiently : dialSsh;
    POP_ASSIGN_OR_RETURN(Connection connection, dial(session.host(), session.port(), wait, phase));
    reached.peer_address = connection.peer_address;
    reached.local_address = connection.local_address;
    POP_RETURN_IF_ERROR(takeSlot(wait));
    Status status = session.open(std::move(connection.socket), wait, phase);
    // Before releasing the slot, so that phases never show more hosts in this stage than there are slots.
    if (status.ok()) phase("starting the agent");
    slots_.release();
    return status;
  }

  // As dialSshPatiently().
  Result<ReachedHost> reachByProgramPatiently(int host, const SshTarget& target, const std::string& command) {
    const Wait wait(cancellation_, std::chrono::milliseconds(options_.connect_timeout_ms));
    for (;;) {
      Result<ReachedHost> reached = reachByProgram(host, target, command);
      if (!options_.waits_for_hosts || reached.code() != Code::kUnavailable ||
          !saysNotUp(reached.status().message()))
        return reached;
      reporter_->phase(host, reached.status().message());
      POP_RETURN_IF_ERROR(wait.pause(kBetweenPrograms));
      if (wait.left() <= Wait::Clock::duration::zero()) return reached;
    }
  }

  Result<ReachedHost> reachByProgram(int host, const SshTarget& target, const std::string& command) {
    const std::vector<std::string> words = rshCommand(target, options_, command);
    reporter_->phase(host, "connecting by " + words.front());
    const auto log = std::make_shared<CommandLog>();
    POP_ASSIGN_OR_RETURN(RshProcess::Started started, RshProcess::start(words, eventsOf(host, log)));
    pump_->add(std::move(started.process));
    // The program does not report when it has connected, so one limit covers that and the agent's start.
    Wait wait(cancellation_,
              std::chrono::milliseconds(options_.connect_timeout_ms + options_.start_timeout_ms));
    Status status = startOn(host, started.stream.get(), wait, *log).during("running " + words.front());
    if (status.code() == Code::kDeadlineExceeded) {
      return Status(status.code(), status.message() + " (" + kConnectTimeoutOption + ", and " +
                                       std::to_string(options_.start_timeout_ms / 1000) +
                                       " s for the agent's start)");
    }
    if (!status.ok()) return status;
    return ReachedHost{.stream = std::move(started.stream)};
  }

  Status startOn(int host, int stream, Wait& wait, CommandLog& log) {
    Status status = startAgent(stream, source_, wait,
                               [this, host](const std::string& name) { reporter_->phase(host, name); });
    if (status.code() != Code::kUnavailable) return std::move(status).during("starting the agent");
    const std::string said = status.message().empty() ? "" : status.message() + "; ";
    return unavailable("the agent did not start: " + said + log.whyEnded(kEndTimeout));
  }

  CommandEvents eventsOf(int host, const std::shared_ptr<CommandLog>& log) {
    return {.said =
                [this, host, log, left = kMostSaidBytes](const std::string& line) mutable {
                  log->said(line);
                  if (left == 0) return;
                  left -= std::min(left, line.size() + kBytesBesideLine);
                  reporter_->said(host, left > 0 ? line : "(too much output: the rest is not shown)");
                },
            .ended =
                [this, host, log](int exit_code) {
                  log->ended(exit_code);
                  reporter_->ended(host, exit_code);
                }};
  }

  Loop& loop_;
  std::vector<std::string> hosts_;
  SshOptions options_;
  AgentProgram agent_;
  AgentSource source_;
  Cancellation cancellation_;
  Slots slots_;
  std::atomic<int> next_ = 0;
  std::unique_ptr<Reporter> reporter_;  // outlives the threads, which report
  std::vector<std::thread> threads_;
  std::unique_ptr<BytePump> pump_;
};

SshBootstrapper::SshBootstrapper(Loop& loop, std::vector<std::string> hosts, SshOptions options,
                                 AgentProgram agent)
    : run_(std::make_unique<Run>(loop, std::move(hosts), std::move(options), std::move(agent))) {}

SshBootstrapper::~SshBootstrapper() = default;

void SshBootstrapper::start(BootstrapEvents events) {
  run_->start(std::move(events));
}

}  // namespace pop
