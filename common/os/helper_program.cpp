// SPDX-License-Identifier: Apache-2.0
#include "common/os/helper_program.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/optional.hpp>     // which Boost.Process 1.81 forgets
#include <boost/type_traits.hpp>  // likewise
// The next header needs those two.
#include <boost/process/v2/posix/vfork_launcher.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/src.hpp>
#include <boost/process/v2/stdio.hpp>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <set>

#include "common/sys/blocked_signals.h"
#include "common/sys/process_end.h"
#include "common/sys/process_setup.h"

namespace pop::os {
namespace {

namespace process = boost::process::v2;
using boost::system::error_code;

// A caller that gives a helper a timeout has little more.
constexpr std::chrono::milliseconds kAfterSigkill{500};

// The child's work in our memory: system calls only. It executes the program itself: Boost would close
// descriptors that the program may be told of (--ssh-config /dev/fd/63), and run our exit handlers where it
// cannot be executed.
struct Child {
  Leads leads;
  pid_t dies_with;  ///< 0: nobody
  int failure;      ///< closed when the program runs; else what kept it from running is written there

  template <typename Launcher>
  error_code on_exec_setup(Launcher&, const std::filesystem::path&, const char* const* argv) const {
    execute(argv);
  }

  [[noreturn]] void execute(const char* const* argv) const {
    // A parent that has already died would never send the signal.
    if (dies_with != 0 && (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != dies_with)) ::_exit(127);
    if (leads == Leads::kSession) ::setsid();
    if (leads == Leads::kGroup) ::setpgid(0, 0);
    // Close-on-exec is still set if dup2 had nothing to do.
    for (int fd = 0; fd < 3; ++fd) ::fcntl(fd, F_SETFD, 0);
    sys::takeBackLimits();
    for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvp(argv[0], const_cast<char* const*>(argv));
    static_cast<void>(!::write(failure, &errno, sizeof(errno)));
    ::_exit(127);
  }
};

// Its number alone is kept of the process: Boost's object would wait for one that does not go, and kills one
// process, not its group.
Result<pid_t> startHere(const std::vector<std::string>& command, const std::array<int, 3>& stdio,
                        const Child& child) {
  boost::asio::io_context context;
  process::posix::vfork_launcher launcher;
  error_code failed;
  try {
    launcher(context.get_executor(), failed, command.front(), std::vector(command.begin() + 1, command.end()),
             process::process_stdio{stdio[0], stdio[1], stdio[2]}, child)
        .detach();
  } catch (const boost::system::system_error& error) {  // of a program that runs: it has no descriptor
    failed = error.code();
  }
  if (launcher.pid <= 0) return errnoStatus("starting " + command.front(), failed.value());
  return launcher.pid;
}

// In `cgroup` from its first moment: a process that moves there keeps all others of the host from forking
// meanwhile, which takes milliseconds. The child has a copy of our memory, because vfork() knows no cgroups.
Result<pid_t> startIn(int cgroup, const std::vector<std::string>& command, const std::array<int, 3>& stdio,
                      const Child& child) {
  std::vector<const char*> argv;
  for (const std::string& word : command) argv.push_back(word.c_str());
  argv.push_back(nullptr);
  clone_args how{};
  how.flags = CLONE_INTO_CGROUP | std::uint64_t{CLONE_VFORK};
  how.exit_signal = SIGCHLD;
  how.cgroup = static_cast<unsigned>(cgroup);
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &how, sizeof(how)));
  if (pid < 0) return errnoStatus("starting " + command.front() + " in a cgroup of its own", errno);
  if (pid > 0) return pid;
  for (int fd = 0; fd < 3; ++fd) ::dup2(stdio[static_cast<std::size_t>(fd)], fd);
  child.execute(argv.data());
}

Result<pid_t> launch(const std::vector<std::string>& command, const std::array<int, 3>& stdio, Leads leads,
                     AfterUs after_us, int cgroup) {
  POP_ASSIGN_OR_RETURN(sys::Pipe failure, sys::makePipe());
  const Child child{leads, after_us == AfterUs::kDies ? ::getpid() : 0, failure.write_end.get()};
  const sys::BlockedSignals blocked;  // no handler of ours may run in a child that borrows our memory
  POP_ASSIGN_OR_RETURN(const pid_t pid, cgroup < 0 ? startHere(command, stdio, child)
                                                   : startIn(cgroup, command, stdio, child));
  failure.write_end.reset();
  int error = 0;
  if (::read(failure.read_end.get(), &error, sizeof(error)) != sizeof(error)) return pid;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return errnoStatus("starting " + command.front(), error);
}

// All that were started, until they are reaped. Held while one is started or reaped: its number is in it, or
// means nothing.
struct Started {
  std::mutex mutex;
  std::set<pid_t> pids;
};

// Never destroyed: whoever lives as long as the process may reap at its end.
Started& started() {
  static auto& all = *new Started;
  return all;
}

// Programs that were killed and had not ended when we looked.
class Stragglers {
 public:
  void add(pid_t pid) {
    const std::scoped_lock lock(mutex_);
    pids_.push_back(pid);
  }
  void reap() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(pids_, HelperProgram::reap);
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> pids_;
};

Stragglers& stragglers() {
  static auto& all = *new Stragglers;
  return all;
}

}  // namespace

Result<HelperProgram> HelperProgram::start(const std::vector<std::string>& command,
                                           const std::array<int, 3>& stdio, Leads leads, AfterUs after_us,
                                           int cgroup) {
  std::unique_lock lock(started().mutex);
  POP_ASSIGN_OR_RETURN(const pid_t pid, launch(command, stdio, leads, after_us, cgroup));
  started().pids.insert(pid);
  lock.unlock();  // the end of a HelperProgram reaps others
  return HelperProgram(pid);
}

bool HelperProgram::hasStarted(pid_t child) {
  const std::scoped_lock lock(started().mutex);
  return started().pids.contains(child);
}

bool HelperProgram::reap(pid_t released) {
  const std::scoped_lock lock(started().mutex);
  if (::waitpid(released, nullptr, WNOHANG) == 0) return false;
  started().pids.erase(released);
  return true;
}

HelperProgram::HelperProgram(pid_t pid) : pid_(pid), end_(sys::endOf(pid)) {}

HelperProgram::~HelperProgram() {
  stragglers().reap();
  if (pid_ < 0) return;
  signal(SIGKILL);
  if (!wait(kAfterSigkill)) stragglers().add(pid_);
}

void HelperProgram::signal(int signal) const {
  if (pid_ > 0) ::kill(-pid_, signal);
}

bool HelperProgram::endsWithin(std::chrono::milliseconds timeout) const {
  return sys::endsWithin(pid_, timeout);
}

std::optional<int> HelperProgram::wait(std::chrono::milliseconds timeout) {
  if (!endsWithin(timeout)) return std::nullopt;
  int status = 0;
  const std::scoped_lock lock(started().mutex);
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  started().pids.erase(pid_);
  pid_ = -1;
  return status;
}

}  // namespace pop::os
