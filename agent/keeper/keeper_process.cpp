// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/keeper_process.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "agent/keeper/descendants.h"
#include "common/contract/exit_code.h"
#include "common/sys/unix_socket.h"

namespace pop::keeper {
namespace {

constexpr std::size_t kStdioFds = 3;

constexpr std::size_t kManyReportsBytes = 512;  // some twenty

// A running agent ends its job in a few milliseconds once the launcher is gone.
constexpr std::chrono::milliseconds kAgentTimeout{2000};

sys::Fd childSignals() {
  // All signals: those that the terminal or killall sends to the launcher are not meant for its keeper.
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  return sys::Fd(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
}

// The instances must not inherit ignored signals; an ignored SIGCHLD would even let the kernel reap them.
void resetDispositions() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
}

// Signals from outside, or for a fault of the program, are likely causes; others that lose a peer exit or
// abort a moment later.
bool wasKilled(int status) {
  return WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT;
}

model::CpuSet setIn(const std::string& text) {
  return text.empty() ? model::CpuSet() : model::CpuSet::parse(text).value();
}

void drain(int fd) {
  std::array<char, 1024> ignored;
  while (::read(fd, ignored.data(), ignored.size()) > 0) {
  }
}

}  // namespace

void KeeperProcess::run() {
  const sys::Fd signals = childSignals();
  resetDispositions();
  raiseDescriptorLimit();
  while (connected_) {
    const bool busy = waitForEvents(signals.get());
    reportStarted();
    // Each report wakes the agent, on a CPU that the next start could use.
    if (!busy || outgoing_.size() > kManyReportsBytes) flush();
  }
  spawner_.stop();
  const bool ended = endAllDescendants(kTimeout, {});
  for (const std::string& path : remove_at_end_) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  ::_exit(ended ? 0 : 1);
}

bool KeeperProcess::waitForEvents(int signals) {
  std::array<pollfd, 4> fds{
      pollfd{link_.get(), static_cast<short>(outgoing_.empty() ? POLLIN : POLLIN | POLLOUT), 0},
      pollfd{signals, POLLIN, 0}, pollfd{spawner_.readyFd(), POLLIN, 0},
      pollfd{life_.fd.valid() ? life_.fd.get() : -1, POLLRDHUP, 0}};
  // While starts are waiting, poll without blocking between two of them.
  const bool busy = spawner_.startNext();
  if (::poll(fds.data(), fds.size(), busy ? 0 : timeout()) < 0) return busy;
  if (fds[3].revents != 0) {
    life_.fd.reset();
    agent_deadline_ = std::chrono::steady_clock::now() + kAgentTimeout;
  }
  if (agent_deadline_ && std::chrono::steady_clock::now() >= *agent_deadline_) lifeIsOver();
  if ((fds[2].revents & POLLIN) != 0) drain(spawner_.readyFd());
  if ((fds[1].revents & POLLIN) != 0) {
    drain(signals);
    reapChildren();
  }
  if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) receive();
  return busy;
}

int KeeperProcess::timeout() const {
  if (!agent_deadline_) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*agent_deadline_ - std::chrono::steady_clock::now());
  return std::max(0, static_cast<int>(left.count()));
}

// The agent should have closed the link: it is stopped or stuck.
void KeeperProcess::lifeIsOver() {
  if (::getppid() == life_.agent) ::kill(life_.agent, SIGKILL);
  connected_ = false;
}

// Descriptors of requests can pile up here; children get the original limit (spawn.cpp).
void KeeperProcess::raiseDescriptorLimit() {
  if (::getrlimit(RLIMIT_NOFILE, &original_limit_) != 0) return;
  rlimit raised = original_limit_;
  raised.rlim_cur = raised.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &raised);
}

// Reads everything available: the kernel delivers requests with descriptors one by one, and the second thread
// should see the waiting ones.
void KeeperProcess::receive() {
  while (connected_ && receiveOnce()) {
  }
}

bool KeeperProcess::receiveOnce() {
  Result<sys::Received> received = sys::receiveSome(link_.get());
  if (received.ok() && received->would_block) return false;
  if (!received.ok() || received->bytes.empty()) {
    connected_ = false;
    return false;
  }
  if (received->lost_fds) {  // the request that comes with them fails, and the next one must not get the rest
    received->fds.clear();
    lost_fds_ = true;
  }
  for (sys::Fd& fd : received->fds) fds_.push_back(std::move(fd));
  reader_.append(received->bytes);
  while (const std::optional<Message> message = nextMessage(reader_)) handle(*message);
  return true;
}

void KeeperProcess::handle(const Message& message) {
  switch (message.kind) {
    case Kind::kSpawn:
      return enqueueSpawn(message);
    case Kind::kEnvironment:
      environment_ = std::make_shared<const Environment>(message.texts);
      return;
    case Kind::kSignal:
      return signalInstance(message.numbers.instance, message.numbers.value);
    case Kind::kRemoveAtEnd:
      return remove_at_end_.push_back(message.texts.at(0));
    case Kind::kEndLeftovers:
      return endLeftovers();
    default:
      POP_CHECK(false);
  }
}

void KeeperProcess::enqueueSpawn(const Message& message) {
  const int instance = message.numbers.instance;
  if (std::exchange(lost_fds_, false))
    return sendFailed(instance, contract::kExitLauncherFailed,
                      "no file descriptors are left (see `ulimit -n`)");
  std::vector<sys::Fd> descriptors = takeFds(message.numbers.descriptors);
  const auto arguments_begin = message.texts.begin() + 3;
  const auto arguments_end = arguments_begin + static_cast<std::ptrdiff_t>(message.numbers.arguments);
  SpawnOrder order{.argv = {arguments_begin, arguments_end},
                   .base = environment_,
                   .environment = {arguments_end, message.texts.end()},
                   .directory = message.texts[0],
                   .cpus = setIn(message.texts[1]),
                   .memory_nodes = setIn(message.texts[2]),
                   .descriptor_limit = original_limit_,
                   .stdio = {descriptors[0].get(), descriptors[1].get(), descriptors[2].get()},
                   .passed = descriptors.size() > kStdioFds ? descriptors[kStdioFds].get() : -1};
  starting_.insert(instance);
  spawner_.enqueue(instance, std::move(order), std::move(descriptors));
}

std::vector<sys::Fd> KeeperProcess::takeFds(std::size_t count) {
  POP_CHECK(count >= kStdioFds && fds_.size() >= count);
  std::vector<sys::Fd> fds;
  for (; count > 0; --count) {
    fds.push_back(std::move(fds_.front()));
    fds_.pop_front();
  }
  return fds;
}

// No race with the instance's end: its pid stays in use until reapChildren, in this same thread.
void KeeperProcess::signalInstance(int instance, int signal) {
  if (starting_.contains(instance)) {
    signals_to_send_[instance].push_back(signal);
    return;
  }
  const auto found = pid_of_.find(instance);
  if (found == pid_of_.end()) return;
  ::kill(-found->second, signal);
  if (::getpgid(found->second) != found->second)
    ::kill(found->second, signal);  // it has moved to another group
}

// The agent asks when no instance is left: remaining descendants were left behind by an instance, or help the
// agent.
void KeeperProcess::endLeftovers() {
  while (!starting_.empty()) {
    spawner_.startNext();
    reportStarted();
  }
  POP_CHECK(pid_of_.empty() || pid_of_.rbegin()->first < 0);
  const bool all = endAllDescendants(kTimeout, {});
  instance_of_.clear();
  for (const auto& [process, pid] : std::exchange(pid_of_, {})) reportReaped(process, SIGKILL);
  send({Kind::kLeftoversEnded, {.value = all ? 1 : 0}, {}});
}

void KeeperProcess::reportStarted() {
  for (const Spawner::Started& started : spawner_.takeStarted()) claim(started);
  if (starting_.empty()) unclaimed_.clear();
}

void KeeperProcess::claim(const Spawner::Started& started) {
  const int instance = started.instance;
  const SpawnResult& result = started.result;
  starting_.erase(instance);
  const auto signals = signals_to_send_.extract(instance);
  if (result.pid < 0) return sendFailed(instance, result.exit_code, result.reason);
  send({Kind::kSpawned, {.instance = instance, .value = result.pid}, {}});
  const auto dead = std::find_if(unclaimed_.begin(), unclaimed_.end(), [&](const Unclaimed& each) {
    return each.pid == result.pid && started.serial < each.begun;
  });
  if (dead != unclaimed_.end()) {
    reportReaped(instance, dead->status);
    unclaimed_.erase(dead);
    return;
  }
  pid_of_[instance] = result.pid;
  instance_of_[result.pid] = instance;
  if (signals.empty()) return;
  for (const int signal : signals.mapped()) signalInstance(instance, signal);
}

void KeeperProcess::reapChildren() {
  reportStarted();
  std::vector<std::pair<int, int>> ended;  // instance, status
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    const auto found = instance_of_.find(pid);
    if (WIFSTOPPED(status)) {
      if (found != instance_of_.end()) reportStopped(found->second, WSTOPSIG(status));
    } else if (found != instance_of_.end()) {
      ended.emplace_back(found->second, status);
      pid_of_.erase(found->second);
      instance_of_.erase(found);
    } else if (!starting_.empty()) {
      // Either an orphan of an instance, or an instance whose start the second thread has not reported yet.
      unclaimed_.push_back({pid, status, spawner_.begun()});
    }
  }
  // waitpid returns them in any order, and the first one reported counts as the job's failure.
  std::stable_partition(ended.begin(), ended.end(), [](const auto& each) { return wasKilled(each.second); });
  for (const auto& [instance, how] : ended) reportReaped(instance, how);
}

void KeeperProcess::reportReaped(int instance, int status) {
  send({Kind::kReaped, {.instance = instance, .value = status}, {}});
}

// A process that uses its session's terminal from the background would wait for ever without a message.
void KeeperProcess::reportStopped(int instance, int signal) {
  if (signal == SIGTTIN || signal == SIGTTOU) send({Kind::kStoppedByTerminal, {.instance = instance}, {}});
}

void KeeperProcess::sendFailed(int instance, int exit_code, const std::string& reason) {
  send({Kind::kSpawnFailed, {.instance = instance, .value = exit_code}, {reason}});
}

// Never blocks: the agent may itself be blocked sending to us.
void KeeperProcess::flush() {
  while (!outgoing_.empty()) {
    const ssize_t sent = ::send(link_.get(), outgoing_.data(), outgoing_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return;  // full, or gone: poll says which
    outgoing_.erase(0, static_cast<std::size_t>(sent));
  }
}

}  // namespace pop::keeper
