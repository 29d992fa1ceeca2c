// SPDX-License-Identifier: Apache-2.0
// A real etcd on this machine, alone, with its data in memory where that is a file system.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "common/os/helper_program.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {

class EtcdServer {
 public:
  /// Returns when it serves. `quota_bytes`: how much it stores; 0: etcd's own limit.
  explicit EtcdServer(std::int64_t quota_bytes = 0);
  ~EtcdServer();
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  /// "127.0.0.1:PORT"
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  void signal(int signal) { program_.signal(signal); }
  void kill();
  /// With what it had.
  void start();
  std::string log() const;

 private:
  const TempDir directory_;
  const std::int64_t quota_bytes_;
  int port_ = 0;
  int peer_port_ = 0;
  os::HelperProgram program_;
};

/// One for all tests of a program.
EtcdServer& sharedEtcd();
/// A prefix that no other test has.
std::string ownPrefix();

}  // namespace pop::testing
