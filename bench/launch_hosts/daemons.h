// SPDX-License-Identifier: Apache-2.0
// Daemons on benchmark hosts: the agent service with mutual TLS, and the floor's daemon.
#pragma once

#include <string>

#include "tests/testing/test_hosts.h"

namespace pop::bench {

inline constexpr int kServicePort = 7571;
inline constexpr int kFloorPort = 7572;

/// They end with their hosts.
class HostDaemons {
 public:
  /// Starts the daemons; all are listening when this returns. `directory`: our programs, visible to all
  /// hosts; the daemons' files go below it.
  HostDaemons(const testing::TestHosts& hosts, std::string directory);

  /// For poprun --agent-tls.
  std::string tls() const { return directory_ + "/tls"; }

  /// Waits, for at most some seconds, until each host has an agent started in advance. Jobs of a user find
  /// one unless they follow each other faster than it starts.
  void waitForSpares() const;

 private:
  void makeCertificates() const;
  void startOn(int host) const;
  int countSpares() const;

  const testing::TestHosts& hosts_;
  const std::string directory_;
};

}  // namespace pop::bench
