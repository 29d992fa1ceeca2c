// SPDX-License-Identifier: Apache-2.0
// Real hosts for benchmarks (tests/testing/test_hosts.h), our programs where all of them see them, and what
// each launcher wants to be told to reach them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/launch_hosts/daemons.h"
#include "tests/testing/test_hosts.h"

namespace pop::bench {

/// Which key exchange OpenSSH uses: its own first choice, or the one that costs least, which libssh takes
/// unasked.
enum class KeyExchange { kDefault, kCurve25519 };

class HostRig {
 public:
  /// `programs`: where ours were built, below the build directory, which all hosts see; `names`: those that
  /// are to be installed.
  HostRig(int hosts, const std::string& programs, const std::vector<std::string>& names);
  ~HostRig();
  HostRig(const HostRig&) = delete;
  HostRig& operator=(const HostRig&) = delete;

  testing::TestHosts& hosts() { return hosts_; }

  /// From here on, what is started there by ssh runs on cores that the host shares with as few others as can
  /// be: in turn, one for each. Else each host seems to have all cores of this machine to itself.
  void giveCores() const;

  /// For contestants whose daemons run already; before daemons().
  void startDaemons() { daemons_.emplace(hosts_, directory_); }
  const HostDaemons& daemons() const { return *daemons_; }

  /// Ours, as all hosts see us.
  std::string ownAddress() const { return hosts_.ownAddress(); }
  /// That all hosts and we are on.
  std::string network() const { return ownAddress() + "/24"; }
  /// One that all hosts and we see.
  const std::string& commonDirectory() const { return directory_; }
  /// One of our programs as it is installed on every host.
  std::string program(const std::string& name) const { return directory_ + '/' + name; }
  std::string address(int host) const { return hosts_.address(host); }
  std::string networkSpace(int host) const { return hosts_.networkSpace(host); }
  /// The addresses of the first `count` hosts, `separator` between them and `suffix` behind each.
  std::string addresses(int count, const std::string& separator, const std::string& suffix = "") const;
  int size() const { return hosts_.count(); }
  /// A file with the addresses of the first `count` hosts, one in a line.
  std::string addressFile(int count) const;
  std::string sshConfig(KeyExchange exchange) const;
  /// A program that does what `ssh -F sshConfig(exchange)` does.
  std::string sshCommand(KeyExchange exchange) const;

 private:
  void installPrograms(const std::string& programs, const std::vector<std::string>& names) const;
  void writeSshFiles() const;

  testing::TestHosts hosts_;
  std::string directory_;
  std::optional<HostDaemons> daemons_;
};

}  // namespace pop::bench
