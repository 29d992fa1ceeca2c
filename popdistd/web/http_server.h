// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1, over TLS or without, on a thread of its own: connections, limits and timeouts. The handler
// (routes.h) interprets requests.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "common/tls/tls_files.h"
#include "popdistd/api/measures.h"
#include "popdistd/net/header_check.h"
#include "popdistd/web/http.h"

namespace pop::popdistd {

struct HttpOptions {
  std::string address;
  int port = 0;                      ///< 0: any
  std::optional<tls::TlsFiles> tls;  ///< missing: only this host may be able to connect
  Identify identify;
  std::chrono::milliseconds head_timeout{10'000};  ///< for the head of a request, and between requests
  std::chrono::milliseconds body_timeout{60'000};
  std::chrono::milliseconds answer_timeout{60'000};  ///< for the handler
  std::chrono::milliseconds write_timeout{60'000};   ///< for a client that does not read
  std::chrono::milliseconds keep_alive{15'000};      ///< of streams
  bool keeps_connections = true;                     ///< for a client's next request
  /// At which the idlest of the address with the most idle ones gives way to a new one; that is turned away
  /// where all of them are being answered.
  int most_connections = 1024;
  int most_streams_of_one =
      64;  ///< that a user reads at once, or an address whose connections are unauthenticated
  /// For connections that another popdistd passes on: all doors have one.
  std::shared_ptr<HeaderCheck> headers = std::make_shared<HeaderCheck>();
};

/// All of it on the loop's thread.
class HttpServer {
 public:
  /// `loop` and what `handler` uses outlive the server.
  static Result<std::unique_ptr<HttpServer>> start(Loop& loop, HttpHandler handler, HttpOptions options);

  /// Ends all connections at once.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;

  /// The counts so far.
  HttpMeters meters() const;

  /// For connections that begin from now on. Only where there was TLS at the start.
  Status setTls(const tls::TlsFiles& files);

  /// Takes no more connections, answers what waits with `why`, ends streams, and calls `stopped` once, from
  /// the loop, within about a second.
  void stop(const Status& why, std::function<void()> stopped);

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pop::popdistd
