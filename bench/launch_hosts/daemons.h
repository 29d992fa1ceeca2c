// SPDX-License-Identifier: Apache-2.0
// What runs on benchmark hosts before a job comes: the agent service with mutual TLS, and the floor's daemon.
#pragma once

#include <string>

#include "tests/testing/test_hosts.h"

namespace pop::bench {

inline constexpr int kServicePort = 7571;
inline constexpr int kFloorPort = 7572;

/// They end with their hosts.
class HostDaemons {
 public:
  /// All listening, when this returns. `directory`: of our programs, which all hosts see; what is made for
  /// the daemons goes below it.
  HostDaemons(const testing::TestHosts& hosts, std::string directory);

  /// For poprun --agent-tls.
  std::string tls() const { return directory_ + "/tls"; }

  /// Until on each host an agent that was started ahead waits for the next job; at most some seconds. A
  /// user's jobs find one unless they follow each other faster than it is started.
  void waitForSpares() const;

 private:
  void makeCertificates() const;
  void startOn(int host) const;
  int countSpares() const;

  const testing::TestHosts& hosts_;
  const std::string directory_;
};

}  // namespace pop::bench
