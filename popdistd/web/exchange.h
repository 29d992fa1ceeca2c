// SPDX-License-Identifier: Apache-2.0
// One request between the connection that it came by, on the web server's thread, and its handler, on the
// loop's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "common/base/loop.h"
#include "popdistd/api/measures.h"
#include "popdistd/web/http.h"

namespace pop::popdistd {

/// The connection, as its exchange uses it. From the loop's thread: it posts to its own.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual void answer(HttpAnswer answer) = 0;
  virtual void beginStream(std::string content_type, std::string keep_alive) = 0;
  virtual void chunk(std::string bytes) = 0;
  /// An error: the client is to see that something is missing.
  virtual void endStream(Status how) = 0;
};

/// The way to the handler, until the server has stopped.
struct ToLoop {
  Loop& loop;
  HttpHandler handler;
  bool closed = false;  ///< on the loop's thread
  HttpMeters meters;    ///< likewise
};

class Exchange final : public HttpExchange, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<ToLoop> to_loop, std::shared_ptr<Connection> connection, HttpRequest request)
      : to_loop_(std::move(to_loop)), connection_(std::move(connection)), request_(std::move(request)) {}

  // ---- for the connection, on its thread

  void begin();
  void pull();   ///< it takes a chunk
  void close();  ///< it takes nothing more

  // ---- HttpExchange

  const HttpRequest& request() const override { return request_; }
  void answer(HttpAnswer answer) override;
  void stream(std::string content_type, std::unique_ptr<ByteSource> source, std::string keep_alive) override;
  std::function<void()> ready() override;
  void keep(std::shared_ptr<void> work) override;

 private:
  void post(std::function<void()> task);
  void feed();
  void over();

  const std::shared_ptr<ToLoop> to_loop_;
  std::shared_ptr<Connection> connection_;  ///< none: it is over
  const HttpRequest request_;
  std::unique_ptr<ByteSource> source_;
  std::shared_ptr<void> work_;
  bool answered_ = false;
  bool pulls_ = false;
  bool will_feed_ = false;
};

}  // namespace pop::popdistd
