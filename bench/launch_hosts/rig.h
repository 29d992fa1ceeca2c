// SPDX-License-Identifier: Apache-2.0
// Real hosts for benchmarks (tests/testing/test_hosts.h), our programs in a directory that all of them see,
// and each launcher's options to reach them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/launch_hosts/daemons.h"
#include "tests/testing/test_hosts.h"

namespace pop::bench {

/// OpenSSH's key exchange: its own first choice, or the cheapest one, which is libssh's default.
enum class KeyExchange { kDefault, kCurve25519 };

class HostRig {
 public:
  /// `programs`: our build directory, which all hosts see; `names`: the programs to install.
  HostRig(int hosts, const std::string& programs, const std::vector<std::string>& names);
  ~HostRig();
  HostRig(const HostRig&) = delete;
  HostRig& operator=(const HostRig&) = delete;

  testing::TestHosts& hosts() { return hosts_; }

  /// From now on, programs started there by ssh run on one core per host, shared with as few other hosts as
  /// possible. Otherwise each host seems to have all cores of this machine.
  void giveCores() const;

  /// For contestants with running daemons; call it before daemons().
  void startDaemons() { daemons_.emplace(hosts_, directory_); }
  const HostDaemons& daemons() const { return *daemons_; }

  /// Our address, as all hosts see it.
  std::string ownAddress() const { return hosts_.ownAddress(); }
  /// The network of all hosts and of this process.
  std::string network() const { return ownAddress() + "/24"; }
  /// A directory that all hosts and this process see.
  const std::string& commonDirectory() const { return directory_; }
  /// The path of one of our programs, installed on every host.
  std::string program(const std::string& name) const { return directory_ + '/' + name; }
  std::string address(int host) const { return hosts_.address(host); }
  std::string networkSpace(int host) const { return hosts_.networkSpace(host); }
  /// The addresses of the first `count` hosts, `separator` between them and `suffix` behind each.
  std::string addresses(int count, const std::string& separator, const std::string& suffix = "") const;
  int size() const { return hosts_.count(); }
  /// A file with the addresses of the first `count` hosts, one in a line.
  std::string addressFile(int count) const;
  std::string sshConfig(KeyExchange exchange) const;
  /// A program equivalent to `ssh -F sshConfig(exchange)`.
  std::string sshCommand(KeyExchange exchange) const;

 private:
  void installPrograms(const std::string& programs, const std::vector<std::string>& names) const;
  void writeSshFiles() const;

  testing::TestHosts hosts_;
  std::string directory_;
  std::optional<HostDaemons> daemons_;
};

}  // namespace pop::bench
