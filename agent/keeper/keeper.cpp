// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/keeper/descendants.h"
#include "agent/keeper/keeper_wire.h"
#include "agent/keeper/spawn.h"
#include "common/sys/unix_socket.h"

namespace pop::keeper {
namespace {

using contract::Frame;

constexpr std::chrono::milliseconds kPatience{5000};

class KeeperProcess {
 public:
  explicit KeeperProcess(sys::Fd link) : link_(std::move(link)) {}

  [[noreturn]] void run() {
    const sys::Fd signals = childSignals();
    resetDispositions();
    raiseDescriptorLimit();
    while (connected_) {
      std::array<pollfd, 2> fds{
          pollfd{link_.get(), static_cast<short>(outgoing_.empty() ? POLLIN : POLLIN | POLLOUT), 0},
          pollfd{signals.get(), POLLIN, 0}};
      if (::poll(fds.data(), fds.size(), -1) < 0) continue;
      if ((fds[1].revents & POLLIN) != 0) {
        drain(signals.get());
        reapChildren();
      }
      if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) receive();
      flush();
    }
    const bool ended = endAllDescendants(kPatience, {});
    for (const std::string& path : remove_at_end_) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    ::_exit(ended ? 0 : 1);
  }

 private:
  static sys::Fd childSignals() {
    // All of them: what the terminal or killall sends to the launcher is not meant for its keeper.
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    return sys::Fd(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  // Descriptors of requests can pile up here; a child gets the limit that we had (spawn.cpp).
  void raiseDescriptorLimit() {
    if (::getrlimit(RLIMIT_NOFILE, &original_limit_) != 0) return;
    rlimit raised = original_limit_;
    raised.rlim_cur = raised.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &raised);
  }

  // What our parent made us ignore, the instances must not; a SIGCHLD ignored would even reap them behind our
  // back.
  static void resetDispositions() {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  }

  static void drain(int signals) {
    signalfd_siginfo info{};
    while (::read(signals, &info, sizeof(info)) > 0) {
    }
  }

  void receive() {
    Result<sys::Received> received = sys::receiveSome(link_.get());
    if (!received.ok() || (received->bytes.empty() && !received->would_block)) {
      connected_ = false;
      return;
    }
    for (sys::Fd& fd : received->fds) fds_.push_back(std::move(fd));
    reader_.append(received->bytes);
    while (true) {
      Result<std::optional<Frame>> frame = reader_.next();
      POP_CHECK(frame.ok());
      if (!frame->has_value()) return;
      handle(frame->value());
    }
  }

  void handle(const Frame& frame) {
    switch (static_cast<Message>(frame.type)) {
      case Message::kSpawn:
        spawnInstance(frame);
        break;
      case Message::kSignal:
        signalInstance(intField(frame, 0), intField(frame, 1));
        break;
      case Message::kRemoveAtEnd:
        remove_at_end_.push_back(frame.fields.at(0));
        break;
      default:
        POP_CHECK(false);
    }
  }

  void spawnInstance(const Frame& frame) {
    POP_CHECK(fds_.size() >= 3);
    std::array<sys::Fd, 3> stdio{takeFd(), takeFd(), takeFd()};
    const int instance = intField(frame, 0);
    const auto arguments_begin = frame.fields.begin() + 3;
    const auto arguments_end = arguments_begin + intField(frame, 2);
    const SpawnResult result = spawn({.argv = {arguments_begin, arguments_end},
                                      .environment = {arguments_end, frame.fields.end()},
                                      .directory = frame.fields[1],
                                      .descriptor_limit = original_limit_,
                                      .stdio = {stdio[0].get(), stdio[1].get(), stdio[2].get()}});
    if (result.pid < 0) {
      send({static_cast<std::uint8_t>(Message::kSpawnFailed),
            {std::to_string(instance), std::to_string(result.exit_code), result.reason}});
      return;
    }
    pid_of_[instance] = result.pid;
    instance_of_[result.pid] = instance;
    send({static_cast<std::uint8_t>(Message::kSpawned),
          {std::to_string(instance), std::to_string(result.pid)}});
  }

  sys::Fd takeFd() {
    sys::Fd fd = std::move(fds_.front());
    fds_.pop_front();
    return fd;
  }

  // Not a race with its end: an instance's pid stays taken until reapChildren, in this same thread.
  void signalInstance(int instance, int signal) {
    const auto found = pid_of_.find(instance);
    if (found == pid_of_.end()) return;
    ::kill(-found->second, signal);
    if (::getpgid(found->second) != found->second)
      ::kill(found->second, signal);  // it has moved to another group
  }

  void reapChildren() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      const auto found = instance_of_.find(pid);
      if (found == instance_of_.end()) continue;  // an orphan of some instance
      send({static_cast<std::uint8_t>(Message::kReaped),
            {std::to_string(found->second), std::to_string(status)}});
      pid_of_.erase(found->second);
      instance_of_.erase(found);
    }
  }

  void send(const Frame& frame) {
    Result<std::string> bytes = contract::encode(frame);
    POP_CHECK(bytes.ok());
    outgoing_ += *bytes;
  }

  // Never blocks: the agent may itself be blocked sending to us.
  void flush() {
    while (!outgoing_.empty()) {
      const ssize_t sent =
          ::send(link_.get(), outgoing_.data(), outgoing_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return;  // full, or gone: poll says which
      outgoing_.erase(0, static_cast<std::size_t>(sent));
    }
  }

  rlimit original_limit_{0, 0};
  sys::Fd link_;
  bool connected_ = true;
  contract::FrameReader reader_;
  std::deque<sys::Fd> fds_;
  std::string outgoing_;
  std::map<int, pid_t> pid_of_;
  std::map<pid_t, int> instance_of_;
  std::vector<std::string> remove_at_end_;
};

// The launcher's standard streams must not be held open by us: whoever reads them waits for their end.
// Descriptors 0-2 stay taken, so that no other can land there.
void detachStdio() {
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd < 3; ++fd) ::dup2(null.get(), fd);
}

}  // namespace

Result<Keeper> forkKeeper() {
  POP_ASSIGN_OR_RETURN(auto ends, sys::socketPair());
  std::set<pid_t> older_siblings = ownChildren();
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return errnoStatus("becoming a child subreaper", errno);
  const pid_t pid = ::fork();
  if (pid < 0) return errnoStatus("starting the keeper process", errno);
  if (pid == 0) {
    ends.first.reset();
    ::setpgid(0, 0);  // what is sent to the launcher's process group spares the keeper
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_NAME, "pop-keeper");  // `killall poprun` spares it as well
    detachStdio();
    KeeperProcess(std::move(ends.second)).run();
  }
  return Keeper{pid, std::move(ends.first), std::move(older_siblings)};
}

Status endKeeper(Keeper keeper) {
  keeper.link.reset();
  const Status resisting(
      Code::kDeadlineExceeded,
      "some process of the job resists SIGKILL (is it waiting for a device or a file server?)");
  int wait_status = -1;
  const auto deadline = std::chrono::steady_clock::now() + kPatience + std::chrono::seconds(1);
  while (::waitpid(keeper.pid, &wait_status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) return resisting;
    ::usleep(200);
  }
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) return {};
  // A keeper that was killed has left its children to us.
  return endAllDescendants(kPatience, keeper.older_siblings) ? Status() : resisting;
}

}  // namespace pop::keeper
