// SPDX-License-Identifier: Apache-2.0
// Answers every gRPC call with kUnavailable and the reason: for a popdistd that does not lead, while there is
// no leader. Its connections end after half a second, so that clients look for the leader again.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/tls/tls_files.h"

namespace pop::popdistd {

class NoLeaderServer {
 public:
  /// At a port of this host that the system chooses; from now on, by threads of gRPC's.
  static Result<std::unique_ptr<NoLeaderServer>> start(std::optional<tls::TlsFiles> tls);
  ~NoLeaderServer();
  NoLeaderServer(const NoLeaderServer&) = delete;
  NoLeaderServer& operator=(const NoLeaderServer&) = delete;

  int port() const;
  /// For calls that come from now on.
  void setReason(const std::string& why);

 private:
  struct Impl;
  explicit NoLeaderServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pop::popdistd
