// SPDX-License-Identifier: Apache-2.0
// One connection of the HTTP server: requests and answers, limits and timeouts. For http_server.cpp alone,
// since Beast's headers take a compiler longest.
#pragma once

#include <sys/socket.h>

#include <array>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/log/log.h"
#include "common/os/tcp.h"
#include "common/tls/certificates.h"
#include "common/tls/peer_user.h"
#include "popdistd/web/cookies.h"
#include "popdistd/web/crowd.h"
#include "popdistd/web/exchange.h"
#include "popdistd/web/http_server.h"

namespace pop::popdistd::web {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using Error = beast::error_code;

inline constexpr std::uint32_t kMostHeadBytes = 16 * 1024;
inline constexpr std::uint64_t kMostBodyBytes = 4 * 1024 * 1024;
inline constexpr std::chrono::milliseconds kLastWords{2000};
inline constexpr std::chrono::milliseconds kStopWithin{1000};
inline constexpr std::chrono::seconds kSaidAgainAfter{60};

using Plain = beast::tcp_stream;
using Tls = beast::ssl_stream<beast::tcp_stream>;

class AnySession {
 public:
  Standing standing;
  bool is_closed = false;  ///< it goes when its last operation has ended

  virtual ~AnySession() = default;
  virtual void stop() = 0;  ///< soon
  virtual void drop() = 0;  ///< at once
};

// What sessions have in common: of the server, on the web thread.
struct Web {
  HttpOptions options;
  std::shared_ptr<ToLoop> to_loop;
  asio::io_context io{1};
  std::uint64_t newest = 0;  ///< the number of a connection
  bool stopping = false;
  Status why_stopping;
  std::set<AnySession*> sessions;
  std::optional<std::chrono::steady_clock::time_point> said_full;

  // Otherwise connections that say nothing would keep everybody out.
  void makeRoom() {
    std::vector<Standing> open;
    for (const AnySession* const each : sessions) {
      if (!each->is_closed) open.push_back(each->standing);
    }
    if (open.size() < static_cast<std::size_t>(options.most_connections)) return;
    const std::optional<std::uint64_t> first = goesFirst(open);
    for (AnySession* const each : std::set(sessions)) {
      if (first && each->standing.number == *first) each->drop();
    }
    const auto now = std::chrono::steady_clock::now();
    if (said_full && now - *said_full < kSaidAgainAfter) return;
    said_full = now;
    log::warning("HTTP has " + std::to_string(options.most_connections) +
                 " connections, which is the most: for each new one, one goes of whoever has most");
  }

  void run() {
    io.run();
    // What sessions still wait for holds them, and they this.
    stopping = true;
    io.restart();
    for (AnySession* const session : std::set(sessions)) session->drop();
    while (io.poll() > 0) {
    }
  }
};

}  // namespace pop::popdistd::web
