// SPDX-License-Identifier: Apache-2.0
// Several real popdistds with one store in a real etcd.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "tests/integration/daemon/daemon_fixture.h"
#include "tests/testing/etcd_server.h"
#include "tests/testing/free_port.h"

namespace pop::testing {

class SeveralDaemons : public DaemonTest {
 protected:
  // The set-up follows the guide.
  SeveralDaemons() {
    makeCertificates("etcd-tls", "--etcd localhost+127.0.0.1");
    etcd_.emplace(0, EtcdTls{.directory = path("etcd-tls")});
  }

  /// popdistd number `member`; it follows if another leads.
  void startMember(std::size_t member) {
    const std::string number = std::to_string(member);
    const std::size_t before = timesItBeganToServe(member);
    startProgram(name(member), popdistd() + " --listen " + place(ports_[member]) + " --http " +
                                   place(http_ports_[member]) + " --state " + path("state" + number));
    ASSERT_TRUE(waitUntil([&] { return timesItBeganToServe(member) > before; }, kTimeout))
        << logOf(name(member));
  }
  std::string popdistd(const std::string& etcd_tls = "etcd-tls") const {
    return POP_BIN_DIR "/popdistd --etcd " + etcd_->address() + " --etcd-tls " + path(etcd_tls) + " --tls " +
           path("tls") + " --advertise localhost --admin root";
  }
  std::size_t timesItBeganToServe(std::size_t member) const {
    const std::string log = logOf(name(member));
    std::size_t times = 0;
    for (const std::string line : {"popdistd follows: ", "popdistd listens at "})  // to lead comes before
      for (std::size_t at = 0; (at = log.find(line, at)) != std::string::npos; ++at) ++times;
    return times;
  }
  static std::string name(std::size_t member) { return "popdistd" + std::to_string(member); }
  static std::string place(int port) { return "127.0.0.1:" + std::to_string(port); }
  std::string server(std::size_t member) const { return "localhost:" + std::to_string(ports_[member]); }

  std::optional<EtcdServer> etcd_;
  const std::array<int, 2> ports_{port(), freePort()};
  const std::array<int, 2> http_ports_{freePort(), freePort()};
};

}  // namespace pop::testing
