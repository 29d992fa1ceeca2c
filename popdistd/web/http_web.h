// SPDX-License-Identifier: Apache-2.0
// The common part of the HTTP server's connections: limits, counts, the thread that they live on. Included by
// http_server.cpp and http_session.* only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "popdistd/web/exchange.h"
#include "popdistd/web/http_server.h"

namespace pop::popdistd::web {

/// A connection, for the server.
class AnySession {
 public:
  virtual ~AnySession() = default;
  virtual void stop() = 0;  ///< soon
  virtual void drop() = 0;  ///< at once
  /// Since when it has asked for nothing; the end of time while it does.
  virtual Clock::time_point idleSince() const = 0;
  /// The client's, as far as it is known: until its header has come, the socket's peer's.
  virtual const std::string& address() const = 0;
};

/// All of it on the web thread.
struct Web {
  HttpOptions options;
  std::shared_ptr<ToLoop> to_loop;
  boost::asio::io_context io{1};
  int connections = 0;
  bool stopping = false;
  Status why_stopping;
  std::set<AnySession*> sessions;
  std::map<std::string, int> streams_of;  ///< by reader

  void run();
};

}  // namespace pop::popdistd::web
