// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/test_hosts.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <tuple>

#include "common/base/check.h"
#include "tests/testing/file_text.h"
#include "tests/testing/process_tree.h"
#include "tests/testing/test_network.h"

namespace pop::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHelperPath = POP_TEST_HOST_PATH;
constexpr Milliseconds kHostTimeout{20000};

void writeFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  POP_CHECK(file.flush().good());
}

pid_t spawn(const std::vector<std::string>& command, int in, int out, int err) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  POP_CHECK(pid >= 0);
  if (pid == 0) {
    if (in >= 0) ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  return pid;
}

std::string readToEnd(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = ::read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

TestHosts::Output outputOf(const std::vector<std::string>& command, const std::string& input = "") {
  sys::Pipe in = std::move(sys::makePipe()).value();
  sys::Pipe out = std::move(sys::makePipe()).value();
  const pid_t pid = spawn(command, in.read_end.get(), out.write_end.get(), out.write_end.get());
  in.read_end.reset();
  out.write_end.reset();
  POP_CHECK(sys::writeAll(in.write_end.get(), input).ok());
  in.write_end.reset();
  TestHosts::Output output{.text = readToEnd(out.read_end.get())};
  int status = 0;
  POP_CHECK(::waitpid(pid, &status, 0) == pid);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

void runIp(const std::vector<std::string>& prefix, const std::string& batch) {
  std::vector<std::string> command = prefix;
  command.insert(command.end(), {"ip", "-batch", "-"});
  const TestHosts::Output output = outputOf(command, batch);
  if (output.exit_code != 0) ::fprintf(stderr, "ip: %s\n", output.text.c_str());
  POP_CHECK(output.exit_code == 0);
}

std::string lineFrom(int fd) {
  std::string line;
  for (char next = 0; ::read(fd, &next, 1) == 1 && next != '\n';) line += next;
  return line;
}

}  // namespace

std::string TestHosts::address6(int host) const {
  std::ostringstream text;
  text << prefix6_ << std::hex << host + 1;
  return text.str();
}

TestHosts::Member TestHosts::startHelper(const std::vector<std::string>& arguments) const {
  sys::Pipe control = std::move(sys::makePipe()).value();
  sys::Pipe answers = std::move(sys::makePipe()).value();
  std::vector<std::string> command{kHelperPath};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Member member;
  member.helper = spawn(command, control.read_end.get(), answers.write_end.get(), STDERR_FILENO);
  member.control = std::move(control.write_end);
  member.answers = std::move(answers.read_end);
  return member;
}

TestHosts::TestHosts(const TestHostsSetup& setup) : names_(setup.names) {
  for (int host = 0; setup.names.empty() && host < setup.count; ++host) {
    names_.push_back("h" + std::to_string(host));
  }
  POP_CHECK(names_.size() == static_cast<std::size_t>(setup.count));
  useNoNameServer(directory_.path());
  std::tie(prefix4_, prefix6_) = freeNetwork();
  hosts_.resize(static_cast<std::size_t>(setup.count));
  fs::create_directories(clientHome() + "/.ssh");
  POP_CHECK(
      outputOf({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", identity()}).exit_code ==
      0);
  switch_ = startHelper({"switch", directory_.path()});
  for (int host = 0; host < count(); ++host) {
    writeHostFiles(host, setup);
    hosts_[static_cast<std::size_t>(host)] =
        startHelper({"host", hostDirectory(host), name(host), POP_BUILD_DIR});
  }
  const auto readFirst = [](Member& member) {
    const std::string line = lineFrom(member.answers.get());
    POP_CHECK(line.starts_with("ready "));
    member.first = std::stoi(line.substr(6));
  };
  readFirst(switch_);
  for (Member& member : hosts_) readFirst(member);
  plugIn();
  for (Member& member : hosts_) POP_CHECK(lineFrom(member.answers.get()) == "keyed");
  writeClientFiles();
  for (Member& member : hosts_) POP_CHECK(sys::writeAll(member.control.get(), "g").ok());
  for (Member& member : hosts_) POP_CHECK(lineFrom(member.answers.get()) == "connected");
  for (int host = 0; host < count(); ++host) waitForSshd(host);
}

TestHosts::~TestHosts() {
  std::vector<Member*> members;
  for (Member& member : hosts_) members.push_back(&member);
  for (const Member* member : members) ::kill(member->helper, SIGKILL);
  for (const Member* member : members) ::waitpid(member->helper, nullptr, 0);
  // The first process of each host dies with its helper, and takes all others with it.
  waitUntil(
      [&] {
        return std::all_of(hosts_.begin(), hosts_.end(), [](const Member& each) {
          ::waitpid(each.first, nullptr, WNOHANG);  // a test that is a subreaper inherits it
          const std::optional<ProcessStat> stat = statOf(each.first);
          return !stat || stat->state == 'Z';
        });
      },
      kHostTimeout);
  switch_.control.reset();
  ::waitpid(switch_.helper, nullptr, 0);
}

void TestHosts::writeHostFiles(int host, const TestHostsSetup& setup) const {
  const std::string directory = hostDirectory(host);
  for (const char* each : {"/home/.ssh", "/bin", "/tmp"}) fs::create_directories(directory + each);
  ::chmod((directory + "/tmp").c_str(), 01777);
  fs::copy_file(identity() + ".pub", directory + "/home/.ssh/authorized_keys");
  std::string names = "127.0.0.1 localhost\n::1 localhost\n";
  for (int each = 0; each < count(); ++each) names += address(each) + ' ' + name(each) + '\n';
  writeFile(directory + "/hosts", names);
  writeFile(directory + "/network", "link set lo up\nlink set eth0 up\naddr add " + address(host) +
                                        "/24 dev eth0\naddr add " + address6(host) + "/64 dev eth0 nodad\n");
  std::string config;
  for (const std::string& line : setup.sshd_options)
    config += line + '\n';  // the first value of an option counts
  config +=
      "Port 22\nHostKey /run/host/host_key\nPidFile none\nUseDNS no\nStrictModes no\nPermitRootLogin yes\n"
      "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPrintMotd no\nPrintLastLog no\n"
      "Subsystem sftp internal-sftp\n";
  writeFile(directory + "/sshd_config", config);
}

void TestHosts::writeClientFiles() const {
  std::string config;
  std::string known;
  for (int host = 0; host < count(); ++host) {
    std::istringstream key(fileText(hostDirectory(host) + "/host_key.pub"));
    std::string type, value;
    key >> type >> value;
    known += name(host) + ',' + address(host) + ',' + address6(host) + ' ' + type + ' ' + value + '\n';
    config += "Host " + name(host) + "\n  HostName " + address(host) + '\n';
  }
  writeFile(knownHosts(), known);
  writeFile(sshConfig(), config + "Host *\n  User root\n  IdentityFile " + identity() +
                             "\n  UserKnownHostsFile " + knownHosts() + '\n');
  for (int host = 0; host < count(); ++host) {
    const std::string there = home(host) + "/.ssh/";
    fs::copy_file(knownHosts(), there + "known_hosts");
    fs::copy_file(identity(), there + "id_ed25519");
    writeFile(there + "config", "Host *\n  User root\n");
  }
}

void TestHosts::plugIn() const {
  const std::string uplink = "pt" + std::to_string(::getpid()) + 'x' + prefix6_.substr(5, 4);
  std::string switch_batch = "link add br0 type bridge forward_delay 0 mcast_snooping 0\nlink set br0 up\n";
  for (int host = 0; host < count(); ++host) {
    const std::string port = "p" + std::to_string(host);
    switch_batch += "link add " + port + " type veth peer name eth0 netns " +
                    std::to_string(hosts_[static_cast<std::size_t>(host)].first) + "\nlink set " + port +
                    " master br0 up\n";
  }
  switch_batch += "link set uplink master br0 up\n";
  runIp({}, "link add " + uplink + " type veth peer name uplink netns " + std::to_string(switch_.first) +
                "\naddr add " + ownAddress() + "/24 dev " + uplink + "\naddr add " + prefix6_ + "fe/64 dev " +
                uplink + " nodad\nlink set " + uplink + " up\nneigh replace " + silentAddress() +
                " lladdr 02:00:00:00:00:01 nud permanent dev " + uplink + '\n');
  runIp({"nsenter", "--target", std::to_string(switch_.first), "--net"}, switch_batch);
}

void TestHosts::setLinks(const std::vector<int>& hosts, const std::string& state) const {
  std::string batch;
  for (const int host : hosts) batch += "link set p" + std::to_string(host) + ' ' + state + '\n';
  runIp({"nsenter", "--target", std::to_string(switch_.first), "--net"}, batch);
}

std::string TestHosts::sshdLog(int host) const {
  return fileText(hostDirectory(host) + "/sshd.log");
}

std::vector<std::string> TestHosts::commandOn(int host, const std::vector<std::string>& command) const {
  std::vector<std::string> words{
      "nsenter", "--target", std::to_string(hosts_[static_cast<std::size_t>(host)].first),
      "--net",   "--mount",  "--uts",
      "--ipc",   "--pid",    "--"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

TestHosts::Output TestHosts::run(int host, const std::string& shell_command) const {
  return outputOf(commandOn(host, {"/bin/sh", "-c", shell_command}));
}

std::string TestHosts::networkSpace(int host) const {
  return "/proc/" + std::to_string(hosts_[static_cast<std::size_t>(host)].first) + "/ns/net";
}

void TestHosts::enter(int host) const {
  const std::string spaces = "/proc/" + std::to_string(hosts_[static_cast<std::size_t>(host)].first) + "/ns/";
  std::vector<sys::Fd> opened;
  for (const char* each : {"net", "uts", "ipc", "mnt"}) {
    opened.emplace_back(::open((spaces + each).c_str(), O_RDONLY | O_CLOEXEC));
  }
  for (const sys::Fd& each : opened) POP_CHECK(::setns(each.get(), 0) == 0);
}

std::vector<pid_t> TestHosts::sshdsOf(int host, bool listener) const {
  const pid_t first = hosts_[static_cast<std::size_t>(host)].first;
  std::vector<pid_t> found;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = static_cast<pid_t>(::atoi(entry.path().filename().c_str()));
    const std::optional<ProcessStat> stat = pid > 0 ? statOf(pid) : std::nullopt;
    if (!stat || stat->name != "sshd") continue;
    std::error_code gone;
    const std::string space = "/ns/pid";
    const bool there = fs::read_symlink(entry.path().string() + space, gone) ==
                       fs::read_symlink("/proc/" + std::to_string(first) + space, gone);
    if (there && (stat->parent == first) == listener) found.push_back(pid);
  }
  return found;
}

void TestHosts::killSessions(int host) const {
  for (const pid_t pid : sshdsOf(host, false)) ::kill(pid, SIGKILL);
}

void TestHosts::resetConnections(int host) const {
  const std::string ours = " -H --tcp --numeric state established sport = :22";
  POP_CHECK(!run(host, "ss" + ours).text.empty());
  POP_CHECK(run(host, "ss --kill" + ours).exit_code == 0);
  POP_CHECK(run(host, "ss" + ours).text.empty());  // not every kernel does it
}

void TestHosts::killSshd(int host) const {
  for (const pid_t pid : sshdsOf(host, true)) ::kill(pid, SIGKILL);
  killSessions(host);
  POP_CHECK(waitUntil([&] { return !answersSsh(address(host)); }, kHostTimeout));
}

void TestHosts::startSshd(int host) const {
  POP_CHECK(run(host, "/usr/sbin/sshd -E /run/host/sshd.log -f /run/host/sshd_config").exit_code == 0);
  waitForSshd(host);
}

void TestHosts::waitForSshd(int host) const {
  POP_CHECK(waitUntil([&] { return answersSsh(address(host)); }, kHostTimeout));
}

std::vector<pid_t> TestHosts::processesOn(int host) const {
  const pid_t first = hosts_[static_cast<std::size_t>(host)].first;
  const std::vector<pid_t> listeners = sshdsOf(host, true);
  std::vector<pid_t> found;
  std::error_code gone;
  const fs::path space = fs::read_symlink("/proc/" + std::to_string(first) + "/ns/pid", gone);
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = static_cast<pid_t>(::atoi(entry.path().filename().c_str()));
    if (pid <= 0 || pid == first || std::count(listeners.begin(), listeners.end(), pid) != 0) continue;
    if (fs::read_symlink(entry.path() / "ns/pid", gone) == space && !gone) found.push_back(pid);
  }
  return found;
}

}  // namespace pop::testing
