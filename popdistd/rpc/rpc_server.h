// SPDX-License-Identifier: Apache-2.0
// The daemon's gRPC: Controller and Pods for users, V-IPU's services for its clients, Hosts for hosts, and
// health and reflection for any client.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "common/tls/tls_files.h"
#include "popdistd/api/measures.h"
#include "popdistd/api/served.h"
#include "popdistd/net/header_check.h"

namespace pop::popdistd {

struct RpcOptions {
  std::string address;
  int port = 0;                      ///< 0: any
  std::optional<tls::TlsFiles> tls;  ///< missing: only this host may be able to connect
  Identify identify;
  IsStillGood is_still_good{};                        ///< of hosts that have joined; null: always
  std::chrono::milliseconds write_timeout{60'000};    ///< for a client that does not read
  std::chrono::milliseconds join_timeout{10'000};     ///< for a host to say which it is
  std::chrono::milliseconds arrival_timeout{10'000};  ///< for a connection's first byte
  /// For connections that another popdistd passes on: all doors have one.
  std::shared_ptr<HeaderCheck> headers = std::make_shared<HeaderCheck>();
};

/// Logs gRPC's messages as debug: they are about single connections, and help to find the fault of one. For
/// the whole process.
void logGrpcAsDebug();

/// All of it on the loop's thread.
class RpcServer {
 public:
  /// Serves from now on, as fast as the loop runs. `loop` outlives the server.
  static Result<std::unique_ptr<RpcServer>> start(os::EpollLoop& loop, const Served& served,
                                                  RpcOptions options);

  /// Only after stop() and `stopped`.
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  int port() const;

  /// Serves a connection of a user of this machine, as the kernel knows it: all but what hosts need. An
  /// error: the user has too many; it is closed.
  Status addLocal(sys::Fd connection, const std::string& unix_user);

  /// The counts so far.
  RpcMeters meters() const;

  /// For connections that begin from now on. Only where there was TLS at the start.
  void setTls(tls::TlsFiles files);

  /// Takes no more calls, ends all with `why`, and calls `stopped` once, from the loop, within about a
  /// second.
  void stop(const Status& why, std::function<void()> stopped);

 private:
  struct Impl;
  explicit RpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pop::popdistd
