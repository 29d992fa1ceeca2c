// SPDX-License-Identifier: Apache-2.0
// A real etcd on this machine, alone, with its data in memory where that is a file system.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/os/helper_program.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {

/// TLS of etcd in the guide's set-up.
struct EtcdTls {
  std::string directory;           ///< ca.pem, host.pem and host-key.pem
  std::string trusted = "ca.pem";  ///< in `directory`: the authority of admitted clients
  bool clients_show = true;        ///< certificates
  bool peers_have_tls = true;
};

class EtcdServer {
 public:
  /// Returns when it serves. `quota_bytes`: how much it stores; 0: etcd's own limit.
  explicit EtcdServer(std::int64_t quota_bytes = 0, std::optional<EtcdTls> tls = {});
  ~EtcdServer();
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  /// "127.0.0.1:PORT"
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// The address at which its members speak to each other.
  std::string peerAddress() const { return "127.0.0.1:" + std::to_string(peer_port_); }

  void signal(int signal) { program_.signal(signal); }
  void kill();
  /// With what it had.
  void start();
  void setTls(EtcdTls tls) { tls_ = std::move(tls); }
  std::string log() const;

 private:
  std::string tlsOptions() const;

  const TempDir directory_;
  const std::int64_t quota_bytes_;
  std::optional<EtcdTls> tls_;
  int port_ = 0;
  int peer_port_ = 0;
  os::HelperProgram program_;
};

/// One for all tests of a program.
EtcdServer& sharedEtcd();
/// A prefix that no other test has.
std::string ownPrefix();

}  // namespace pop::testing
