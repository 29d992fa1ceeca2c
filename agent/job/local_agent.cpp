// SPDX-License-Identifier: Apache-2.0
#include "agent/job/local_agent.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "agent/keeper/descendants.h"
#include "agent/topo/topology_probe.h"
#include "common/log/log.h"

namespace pop::agent {
namespace {

// No other host needs to reach these instances. An address, since "localhost" may resolve to ::1.
constexpr const char* kLoopbackAddress = "127.0.0.1";

// A keeper that is asked to end leftovers of a run reports within this time, or hangs.
constexpr std::chrono::milliseconds kCleanTimeout = keeper::kTimeout + std::chrono::milliseconds(2000);

Status keeperIsGone(bool abandoned) {
  const std::string why =
      abandoned ? "hung, or waited for a process that resists SIGKILL, and was abandoned" : "was killed";
  return failedPrecondition("its keeper process " + why + ": it cannot start more instances");
}

struct ChildDescriptors {
  sys::Fd in;
  sys::Pipe out;
  sys::Pipe err;
  sys::Fd pmi;  ///< invalid: not served

  std::vector<int> numbers() const {
    std::vector<int> numbers{in.get(), out.write_end.get(), err.write_end.get()};
    if (pmi.valid()) numbers.push_back(pmi.get());
    return numbers;
  }
};

Result<ChildDescriptors> makeDescriptors(StdinFeed& stdin_feed, HostRendezvous& rendezvous, int instance) {
  ChildDescriptors made;
  POP_ASSIGN_OR_RETURN(made.in, stdin_feed.open(instance));
  POP_ASSIGN_OR_RETURN(made.out, sys::makePipe());
  POP_ASSIGN_OR_RETURN(made.err, sys::makePipe());
  POP_ASSIGN_OR_RETURN(made.pmi, rendezvous.connectPmi(instance));
  return made;
}

VariableNames ownVariables() {
  VariableNames names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    names.emplace(text.substr(0, text.find('=')));
  }
  return names;
}

}  // namespace

LocalAgent::LocalAgent(os::EpollLoop& loop, keeper::Keeper keeper, OutputSink& sink, OutputPump::Modes modes,
                       AgentSurroundings surroundings)
    : loop_(loop),
      surroundings_(std::move(surroundings)),
      keeper_(std::move(keeper)),
      core_(loop, *this, rendezvous_, ownVariables()),
      keeper_link_(loop, keeper_.link.get(), keeperEvents()),
      rendezvous_(
          loop, keeper_link_,
          {.fence_reached = [this](FenceId fence,
                                   PutValues values) { core_.onFenceReached(fence, std::move(values)); },
           .aborted = [this](int instance, int exit_code,
                             const std::string& message) { core_.onAborted(instance, exit_code, message); }}),
      pump_(loop, sink, modes, [this](int instance) { core_.onDrained(instance); }),
      stdin_feed_(loop, surroundings_.stdin_source, surroundings_.stdin_unread),
      tracer_(loop, keeper_link_) {}

LocalAgent::~LocalAgent() {
  if (clean_limit_) loop_.cancel(*clean_limit_);
}

KeeperLink::Events LocalAgent::keeperEvents() {
  return {
      .spawned = [this](int instance, pid_t pid) { onSpawned(instance, pid); },
      .spawn_failed =
          [this](int instance, int exit_code, const std::string& why) {
            if (instance == kPmixProgram) return rendezvous_.pmix().onSpawnFailed(why);
            if (StackTracer::owns(instance)) return tracer_.onEnded(instance);
            core_.onSpawnFailed(instance, exit_code, why);
          },
      .reaped = [this](int instance, const contract::ExitStatus& status) { onReaped(instance, status); },
      .stopped_by_terminal =
          [](int instance) {
            log::warning("instance " + std::to_string(instance) +
                         " is stopped: it uses the terminal, which instances do not have (--stdin chooses "
                         "who reads what is typed)");
          },
      .leftovers_ended =
          [this](bool all) {
            onClean(all ? Status()
                        : failedPrecondition("a process left over from the previous attempt "
                                             "resists SIGKILL (is it waiting for a disk?)"));
          },
      .lost =
          [this] {
            core_.onKeeperLost();
            if (when_clean_) onClean(keeperIsGone(abandoned_));
          }};
}

void LocalAgent::onSpawned(int instance, pid_t pid) {
  if (instance == kPmixProgram || StackTracer::owns(instance)) return;
  running_[instance] = pid;
  core_.onSpawned(instance, pid);
}

void LocalAgent::onReaped(int instance, const contract::ExitStatus& status) {
  if (instance == kPmixProgram) return rendezvous_.pmix().onReaped(status);
  if (StackTracer::owns(instance)) return tracer_.onEnded(instance);
  rendezvous_.pmix().receive();  // it may say why
  std::string cause;
  if (memory_kills_ && shellExitCode(status) == contract::kExitSignalBase + SIGKILL)
    cause = memory_kills_->why(running_[instance]);
  running_.erase(instance);
  if (!status.success()) stdin_feed_.keep();
  stdin_feed_.close(instance);  // a child that it has left may hold its stdin, and read nothing
  core_.onReaped(instance, status, cause);
}

// No process can write to the previous run's pipes any more, unless it resists SIGKILL.
void LocalAgent::onClean(const Status& clean) {
  if (clean_limit_) loop_.cancel(*std::exchange(clean_limit_, std::nullopt));
  pump_.finishAll();
  std::exchange(when_clean_, nullptr)(clean);
}

Status LocalAgent::makeExecutableCache(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error ? errnoStatus("--executable-cache-path " + path, error.value()) : Status();
}

Status LocalAgent::shutDown() {
  loop_.unwatch(keeper_.link.get());
  Status ended = keeper::endKeeper(std::move(keeper_));
  for (const std::string& path : keeper_link_.removedAtEnd()) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);  // the keeper did, unless it was killed
  }
  return ended;
}

void LocalAgent::describe(int port_count, model::TopologyDetail detail,
                          std::function<void(Result<HostFacts>)> reply) {
  const auto answer = [this, port_count, detail, reply = std::move(reply)](const Status& clean) {
    if (!clean.ok()) return reply(clean);
    Result<PortReservation> ports = PortReservation::reserve(port_count);
    if (!ports.ok()) return reply(ports.status());
    Result<model::HostTopology> topology = probeTopology(detail);
    if (!topology.ok()) return reply(topology.status());
    Result<std::string> address =
        surroundings_.address ? surroundings_.address() : Result<std::string>(kLoopbackAddress);
    if (!address.ok()) return reply(address.status());
    ports_ = std::move(*ports);
    reply(HostFacts{std::move(*address), ports_.ports(), std::move(*topology)});
  };
  if (keeper_link_.lost()) return answer(keeperIsGone(abandoned_));
  if (!has_run_) return answer({});
  rendezvous_.reset();
  when_clean_ = answer;
  keeper_link_.endLeftovers();
  clean_limit_ = loop_.postAfter(kCleanTimeout, [this] {
    clean_limit_.reset();
    abandon();
  });
}

// The end of the keeper is reported as its loss; shutDown() ends what it has left.
void LocalAgent::abandon() {
  abandoned_ = true;
  ::kill(keeper_.pid, SIGKILL);
}

void LocalAgent::traceStacks(std::function<void(std::vector<StackTrace>)> reply) {
  tracer_.trace(running_, std::move(reply));
}

void LocalAgent::run(JobSlice slice, AgentEvents& events) {
  ports_.release();
  has_run_ = true;
  memory_kills_.emplace();
  stdin_feed_.begin(slice.stdin_policy, static_cast<int>(slice.instances.size()));
  core_.run(std::move(slice), events);
}

void LocalAgent::stop() {
  stdin_feed_.keep();
  core_.stop();
}

void LocalAgent::kill() {
  stdin_feed_.keep();
  core_.kill();
}

void LocalAgent::spawn(const SpawnRequest& request) {
  Result<ChildDescriptors> made = makeDescriptors(stdin_feed_, rendezvous_, request.instance);
  if (!made.ok() || keeper_link_.lost()) {
    const std::string why =
        made.ok() ? "the keeper process has ended" : made.status().message() + " (see `ulimit -n`)";
    loop_.post([this, instance = request.instance, why] {
      core_.onSpawnFailed(instance, contract::kExitLauncherFailed, why);
    });
    return;
  }
  keeper_link_.spawn(request, made->numbers());
  pump_.attach(request.instance, Stream::kStdout, std::move(made->out.read_end));
  pump_.attach(request.instance, Stream::kStderr, std::move(made->err.read_end));
}

}  // namespace pop::agent
