// SPDX-License-Identifier: Apache-2.0
// Real hosts on this machine, for tests: each a set of namespaces with its own addresses, host name,
// processes, home, /tmp, /dev/shm, /etc/hosts and sshd, all on one switch, which this process is plugged into
// as well; name servers are never asked. Needs root. Everything is gone with the object, and with the
// process that made it, however it ends: nothing has a name that could be left behind but a directory.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/sys/fd.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {

struct TestHostsSetup {
  int count = 1;
  std::vector<std::string> sshd_options;  ///< lines of sshd_config, over the fixture's own
  std::vector<std::string> names{};       ///< host names; empty: "h0", "h1", …; else one for each host
};

class TestHosts {
 public:
  explicit TestHosts(int count) : TestHosts(TestHostsSetup{.count = count}) {}
  explicit TestHosts(const TestHostsSetup& setup);
  ~TestHosts();
  TestHosts(const TestHosts&) = delete;
  TestHosts& operator=(const TestHosts&) = delete;

  int count() const { return static_cast<int>(hosts_.size()); }
  /// Its host name. An alias in sshConfig(), and a name in every host's /etc/hosts.
  const std::string& name(int host) const { return names_[static_cast<std::size_t>(host)]; }
  std::string address(int host) const { return prefix4_ + std::to_string(host + 1); }
  std::string address6(int host) const;
  /// Ours on the same switch.
  std::string ownAddress() const { return prefix4_ + "254"; }
  /// A free address of the same network: after three seconds, the kernel says so.
  std::string unusedAddress() const { return prefix4_ + "253"; }
  /// One that takes everything and never answers.
  std::string silentAddress() const { return prefix4_ + "252"; }

  /// The file for `ssh -F`: names, user, key and known hosts of all hosts, all paths absolute.
  std::string sshConfig() const { return directory_.path() + "/client/.ssh/config"; }
  /// The key that every host accepts, and the keys of all hosts, by name and by address.
  std::string identity() const { return directory_.path() + "/client/.ssh/id_ed25519"; }
  std::string knownHosts() const { return directory_.path() + "/client/.ssh/known_hosts"; }
  /// A home with .ssh/{config,id_ed25519,known_hosts}; each host has such files in its own home.
  std::string clientHome() const { return directory_.path() + "/client"; }

  /// The host's home, its /usr/local/bin (first in PATH) and its /tmp, as paths of this test.
  std::string home(int host) const { return hostDirectory(host) + "/home"; }
  std::string bin(int host) const { return hostDirectory(host) + "/bin"; }
  std::string tmp(int host) const { return hostDirectory(host) + "/tmp"; }
  std::string sshdLog(int host) const;

  /// `command` as it has to be started here so that it runs on that host: a launcher can be there, too.
  std::vector<std::string> commandOn(int host, const std::vector<std::string>& command) const;
  /// A shell command there, with its output (stderr as well) and exit code.
  struct Output {
    int exit_code = 0;
    std::string text;
  };
  Output run(int host, const std::string& shell_command) const;

  /// The namespace of its network, for setns.
  std::string networkSpace(int host) const;
  /// Moves the calling process, a forked child with one thread, there: all but its process namespace.
  void enter(int host) const;

  /// Cuts the cable: nothing comes through, and neither end is told.
  void linkDown(int host) { linksDown({host}); }
  void linksDown(const std::vector<int>& hosts) { setLinks(hosts, "down"); }  ///< at once
  void linkUp(int host) { setLinks({host}, "up"); }

  void killSshd(int host) const;      ///< the listener and all sessions, SIGKILL; they are gone
  void killSessions(int host) const;  ///< the sessions only
  /// The TCP connections of its sshd, at both ends, as by something on the way. All of sshd stays.
  void resetConnections(int host) const;
  void startSshd(int host) const;  ///< again, and waits until it answers
  void waitForSshd(int host) const;

  /// Everything that runs there but the host itself and its listening sshd: pids as we see them.
  std::vector<pid_t> processesOn(int host) const;

 private:
  struct Member {
    pid_t helper = -1;  ///< our child
    pid_t first = -1;   ///< the first process of the host
    sys::Fd control;    ///< its stdin
    sys::Fd answers;    ///< its stdout
  };

  std::string hostDirectory(int host) const { return directory_.path() + '/' + name(host); }
  Member startHelper(const std::vector<std::string>& arguments) const;
  void writeHostFiles(int host, const TestHostsSetup& setup) const;
  void writeClientFiles() const;
  void plugIn() const;
  void setLinks(const std::vector<int>& hosts, const std::string& state) const;
  std::vector<pid_t> sshdsOf(int host, bool listener) const;

  TempDir directory_;
  std::vector<std::string> names_;
  std::string prefix4_;  ///< "10.65.3."
  std::string prefix6_;  ///< "fd7a:4103::"
  Member switch_;
  std::vector<Member> hosts_;
};

}  // namespace pop::testing
