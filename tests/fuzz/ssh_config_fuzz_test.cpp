// SPDX-License-Identifier: Apache-2.0
// Generated SSH configurations: where poprun goes, as whom and with which keys is what the installed ssh does
// when it connects, as it says with -v; or poprun leaves the host to ssh. Seeded: SSH_CONFIG_SEEDS=5000 runs
// more.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/base/random.h"
#include "common/base/text.h"
#include "common/os/helper_run.h"
#include "common/sys/fd.h"
#include "poprun/bootstrap/rsh_process.h"
#include "poprun/bootstrap/ssh/ssh_config.h"
#include "tests/testing/temp_dir.h"

namespace pop {
namespace {

// Greets each client like an SSH server, and hangs up.
class Greeter {
 public:
  Greeter() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in any{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_ANY)}, .sin_zero = {}};
    POP_CHECK(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)) == 0);
    POP_CHECK(::listen(socket_.get(), 64) == 0);
    socklen_t bytes = sizeof(any);
    POP_CHECK(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&any), &bytes) == 0);
    port_ = ntohs(any.sin_port);
    thread_ = std::thread([this] { greet(); });
  }
  ~Greeter() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }
  Greeter(const Greeter&) = delete;
  Greeter& operator=(const Greeter&) = delete;

  int port() const { return port_; }

 private:
  void greet() const {
    for (;;) {
      const sys::Fd caller(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!caller.valid()) return;
      constexpr std::string_view kGreeting = "SSH-2.0-nobody\r\n";
      static_cast<void>(::send(caller.get(), kGreeting.data(), kGreeting.size(), MSG_NOSIGNAL));
      ::shutdown(caller.get(), SHUT_WR);
      std::array<char, 256> ignored;
      while (::recv(caller.get(), ignored.data(), ignored.size(), 0) > 0) continue;
    }
  }

  sys::Fd socket_;
  int port_ = 0;
  std::thread thread_;
};

class Writer {
 public:
  Writer(std::uint64_t seed, std::string directory, std::array<int, 2> ports)
      : random_(seed), directory_(std::move(directory)), ports_(ports) {}

  std::string host() { return one({"node1", "node2", "Node1", "alpha", "node10"}); }

  std::string file(int depth) {
    std::string text = random_.below(8) == 0 ? "IgnoreUnknown Use*,No*\n" : "";
    for (std::uint64_t lines = 2 + random_.below(9); lines > 0; --lines) text += line(depth);
    return text;
  }

  // The end of a configuration, by which no name is looked up, and nothing leaves this machine.
  std::string lastBlock() const {
    return "\nHost *\n  HostName 127.0.0.9\n  Port " + std::to_string(ports_[0]) + '\n';
  }

 private:
  std::string one(const std::vector<std::string>& words) { return words[random_.below(words.size())]; }

  std::string line(int depth) {
    const std::string end = one({"\n", "\n", "\n", " \n", "\r\n", " # Port 1\n", "\t#x\n", " #\n"});
    switch (random_.below(depth == 0 ? 10 : 7)) {
      case 0:
      case 1:
        return "Host" + between() + one(patterns()) +
               one({"", "", " " + one(patterns()), " !" + one(patterns())}) + end;
      case 2:
        return "Match" + between() + criterion() + one({"", "", " " + criterion()}) + end;
      case 7:
      case 8:
        return include(end);
      case 9:
        return random_.below(6) == 0
                   ? one({"UseKeychain yes", "Nonsense", "Port x", "Host", "\"", "'", "\\"}) + end
                   : "\n";
      default:
        return one({"", "  ", "\t"}) + setting() + end;
    }
  }

  std::string between() { return one({" ", " ", "\t", "=", " = ", "  "}); }

  std::vector<std::string> patterns() {
    return {"node1",  "node?",   "*",         "alpha,node1", "node1,!node2",
            "!node1", "'node1'", "\"node2\"", "node\\1",     "alpha #node1",
            "a*",     "NODE1",   "node[12]",  "127.0.0.*",   "#node1"};
  }

  std::string criterion() { return one({"host ", "originalhost ", "host=", "!host "}) + one(patterns()); }

  std::string setting() {
    switch (random_.below(9)) {
      case 0:
        return "HostName" + between() +
               one({"127.0.0.2", "127.0.0.3", "'127.0.0.4'", "\"127.0.0.5\"", "127.0.0.6#x", "127.0.0.%p"});
      case 1:
        return one({"Port", "PORT", "port"}) + between() +
               one({std::to_string(ports_[0]), std::to_string(ports_[1]),
                    '"' + std::to_string(ports_[1]) + '"', "0"});
      case 2:
        return "User" + between() + one({"me", "'you and'", "\"me\"", "a#b", "%u", "x\\ y", "u'v'"});
      case 3:
      case 4:
      case 5:
        return "IdentityFile" + between() +
               one({"/k/a", "'/k/with blank'", "\"/k/q\"", "/k/b\\ c", "/k/#d", "~/k", "~root/k", "%d/k",
                    "/k/%h", "/k/%n", "/k/%p", "/k/%r", "/k/%u", "/k/%%", "${HOME}/k", "none", "/k/'x'",
                    "k"});
      case 6:
        return one({"UserKnownHostsFile /x /y", "UserKnownHostsFile ~/x", "StrictHostKeyChecking no",
                    "RemoteCommand tmux", "SessionType none", "StdinNull yes", "IdentitiesOnly yes",
                    "Compression yes", "Ciphers aes256-ctr"});
      case 7:
        return one({"ProxyCommand false", "ProxyCommand none", "ProxyJump none", "ProxyJump 127.0.0.1:1",
                    "AddressFamily inet"});
      default:
        return one({"Match user me", "Match exec false", "Match exec true", "Match exec \"test %n = node1\"",
                    "Match all", "Match localuser root", "Match final", "Match user me host *"});
    }
  }

  std::string include(const std::string& end) {
    const std::string path = directory_ + "/inc" + std::to_string(++included_);
    std::ofstream(path) << file(1);
    ::chmod(path.c_str(), random_.below(12) == 0 ? 0666 : 0644);
    return "Include" + between() +
           one({path, '"' + path + '"', directory_ + "/inc*", path + " nosuch/*", "nosuch.d/*", path + "?"}) +
           end;
  }

  SplitMix64 random_;
  std::string directory_;
  std::array<int, 2> ports_;
  int included_ = 0;
};

// The connection that ssh makes, in its own words.
struct Deed {
  bool by_program = false;  ///< through a ProxyCommand
  std::string address;      ///< "127.0.0.2 [127.0.0.2] port 22"; empty: it does not connect
  std::string login;        ///< "127.0.0.2:22 as 'me'"; empty: it has not come so far
  std::vector<std::string> keys;
};

std::optional<std::string> after(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return {};
  return std::string(trimmed(line.substr(at + words.size())));
}

Deed deedOf(const std::string& said) {
  Deed deed;
  for (const std::string& line : split(said, '\n')) {
    if (line.find("Executing proxy command") != std::string::npos ||
        line.find("jump host") != std::string::npos)
      deed.by_program = true;
    if (auto address = after(line, "debug1: Connecting to ")) deed.address = *address;
    if (auto login = after(line, "debug1: Authenticating to ")) deed.login = *login;
    const auto key = after(line, "debug1: identity file ");
    if (!key) continue;
    const std::string name = key->substr(0, key->rfind(" type "));
    if (!name.ends_with("-cert")) deed.keys.push_back(name);
  }
  return deed;
}

class Differential {
 public:
  // Empty: poprun and ssh do the same.
  std::string difference(std::uint64_t seed) {
    const testing::TempDir directory;
    Writer writer(seed, directory.path(), {first_.port(), second_.port()});
    const SshOptions options{.config_file = directory.path() + "/config"};
    const SshTarget target{.host = writer.host()};
    const std::string text = writer.file(0) + writer.lastBlock();
    std::ofstream(options.config_file) << text;
    const Result<SshHostConfig> config = sshConfigOf(target, options, wait_);
    const bool by_program = config.ok() && !config.value().needs_program.empty();
    if (by_program) ++by_ssh;
    const std::string wrong = by_program ? "" : compare(config, deed(target, options));
    return wrong.empty() ? ""
                         : "seed " + std::to_string(seed) + ", " + target.host + ": " + wrong + "\n" + text;
  }

  int by_libssh = 0;
  int by_ssh = 0;
  int refused = 0;

 private:
  static Deed deed(const SshTarget& target, const SshOptions& options) {
    std::vector<std::string> command = rshCommand(target, options, "true");
    command.insert(command.begin() + 1, "-v");
    return deedOf(os::runInParallel({command}, 1, {}, std::chrono::seconds(20)).front().errors);
  }

  std::string compare(const Result<SshHostConfig>& config, const Deed& ssh) {
    if (!config.ok()) {
      ++refused;
      return ssh.address.empty() && !ssh.by_program
                 ? ""
                 : "refused, but ssh connects: " + config.status().message();
    }
    const SshHostConfig& poprun = config.value();
    ++by_libssh;
    if (ssh.by_program) return "ssh goes by another program";
    const std::string host = poprun.host_name, port = std::to_string(poprun.port);
    if (ssh.address != host + " [" + host + "] port " + port + '.')
      return "goes to " + host + " port " + port + ", ssh to " + ssh.address;
    if (!ssh.login.empty() && ssh.login != host + ':' + port + " as '" + poprun.user + '\'')
      return "logs in as '" + poprun.user + "', ssh to " + ssh.login;
    if (ssh.login.empty() || poprun.identity_files.empty() || poprun.identity_files == ssh.keys) return "";
    return "has the keys " + join(poprun.identity_files, ", ") + ", ssh " + join(ssh.keys, ", ");
  }

  Greeter first_;
  Greeter second_;
  Cancellation cancellation_;
  Wait wait_{cancellation_, std::chrono::hours(1)};
};

TEST(SshConfigFuzz, PoprunDoesWhatSshDoes) {
  const char* asked = std::getenv("SSH_CONFIG_SEEDS");
  const std::uint64_t seeds = asked != nullptr ? std::stoull(asked) : 150;
  Differential differential;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::string difference = differential.difference(seed);
    ASSERT_EQ(difference, "");
  }
  std::printf("%d by libssh, %d by ssh, %d refused\n", differential.by_libssh, differential.by_ssh,
              differential.refused);
  EXPECT_GT(differential.by_libssh, static_cast<int>(seeds / 4));
  EXPECT_GT(differential.by_ssh, 0);
  EXPECT_GT(differential.refused, 0);
}

}  // namespace
}  // namespace pop
