// SPDX-License-Identifier: Apache-2.0
// One host of test_hosts.h: a process in namespaces of its own, with its own files, network and sshd. It is
// the first process of its process namespace: when it dies, for whatever reason, everything on that host dies
// with it, and its network is gone.
//
//   pop_test_host switch DIRECTORY          a network namespace with nothing in it; removes DIRECTORY at
//   stdin's end pop_test_host host DIRECTORY NAME PATH  a host whose files are in DIRECTORY and that still
//   sees PATH
//
// Says "ready PID" on stdout; a host then "keyed", waits for a byte on stdin, and says "connected" when its
// network works and its sshd is starting.
#include <fcntl.h>
#include <linux/mount.h>
#include <pwd.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "pop_test_host: %s: %s\n", what.c_str(), std::strerror(errno));
  std::_Exit(1);
}

void check(bool ok, const std::string& what) {
  if (!ok) fail(what);
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

pid_t spawn(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  check(pid >= 0, "fork");
  if (pid == 0) {
    // Processes on a host outlive none of the pipes of the test.
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
    ::execvp(argv[0], argv.data());
    fail("executing " + command[0]);
  }
  return pid;
}

void runToEnd(const std::vector<std::string>& command) {
  int status = 0;
  const pid_t pid = spawn(command);
  check(::waitpid(pid, &status, 0) == pid, "waitpid");
  if (status != 0) errno = 0;
  check(status == 0, "running " + command[0]);
}

void bindOver(const std::string& source, const std::string& target) {
  check(::mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) == 0, "mounting " + target);
}

void mountNew(const char* type, const char* target) {
  check(::mount(type, target, type, MS_NOSUID | MS_NODEV, nullptr) == 0, std::string("mounting ") + target);
}

// Its own /tmp, home, /run, /dev/shm, /etc/hosts and /usr/local/bin; `visible`, which may be below one of
// them, stays where it is.
void makeOwnFiles(const std::string& directory, const std::string& visible) {
  check(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "making mounts private");
  const long tree = ::syscall(SYS_open_tree, AT_FDCWD, visible.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  check(tree >= 0, "open_tree " + visible);
  const passwd* user = ::getpwuid(::getuid());
  check(user != nullptr, "getpwuid");
  bindOver(directory + "/home", user->pw_dir);
  bindOver(directory + "/bin", "/usr/local/bin");
  bindOver(directory + "/hosts", "/etc/hosts");
  mountNew("tmpfs", "/run");
  mountNew("tmpfs", "/dev/shm");
  std::filesystem::create_directory("/run/sshd");
  std::filesystem::create_directory("/run/host");
  bindOver(directory, "/run/host");
  bindOver(directory + "/tmp", "/tmp");
  std::filesystem::create_directories(visible);
  check(::syscall(SYS_move_mount, static_cast<int>(tree), "", AT_FDCWD, visible.c_str(),
                  MOVE_MOUNT_F_EMPTY_PATH) == 0,
        "move_mount " + visible);
  mountNew("proc", "/proc");
}

// The host's first process: until the test kills it.
[[noreturn]] void liveAsHost(const std::string& directory, const std::string& name,
                             const std::string& visible) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // getpid() is 1; the /proc that is still mounted here knows the number that others see.
  say("ready " + std::filesystem::read_symlink("/proc/self").string());
  check(::sethostname(name.c_str(), name.size()) == 0, "sethostname");
  makeOwnFiles(directory, visible);
  runToEnd({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", "/run/host/host_key"});
  say("keyed");
  char go = 0;
  check(::read(STDIN_FILENO, &go, 1) == 1, "waiting for the network");
  runToEnd({"ip", "-batch", "/run/host/network"});
  spawn({"/usr/sbin/sshd", "-D", "-E", "/run/host/sshd.log", "-f", "/run/host/sshd_config"});
  say("connected");
  for (;;) {
    if (::waitpid(-1, nullptr, 0) < 0) ::pause();  // sshd was killed by the test, and nothing else is there
  }
}

int runHost(const std::string& directory, const std::string& name, const std::string& visible) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  check(::unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID) == 0, "unshare");
  const pid_t first = ::fork();
  check(first >= 0, "fork");
  if (first == 0) liveAsHost(directory, name, visible);
  ::waitpid(first, nullptr, 0);
  return 1;
}

int runSwitch(const std::string& directory) {
  check(::unshare(CLONE_NEWNET) == 0, "unshare");
  say("ready " + std::to_string(::getpid()));
  char never = 0;
  while (::read(STDIN_FILENO, &never, 1) > 0 || errno == EINTR) continue;
  // The owner is gone, and may not have been able to do this.
  std::error_code again;
  do {
    std::filesystem::remove_all(directory, again);
  } while (again && std::filesystem::exists(directory));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "switch") return runSwitch(words[1]);
  if (words.size() == 4 && words[0] == "host") return runHost(words[1], words[2], words[3]);
  std::fprintf(stderr, "usage: pop_test_host switch DIRECTORY | host DIRECTORY NAME PATH\n");
  return 2;
}
