// SPDX-License-Identifier: Apache-2.0
// One connection of the HTTP server: requests and answers one after the other, limits and timeouts. Included
// by http_server.cpp only, since Beast's headers take a compiler long.
#pragma once

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "popdistd/net/arrival.h"
#include "popdistd/web/http_stream.h"
#include "popdistd/web/http_web.h"

namespace pop::popdistd::web {

namespace http = beast::http;

inline constexpr std::uint32_t kMostHeadBytes = 16 * 1024;
inline constexpr std::uint64_t kMostBodyBytes = 4 * 1024 * 1024;

/// Lives as long as an operation of it goes on.
class Session final : public AnySession, public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<Web> web, std::unique_ptr<HttpStream> stream);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start();
  void stop() override;
  /// The last operation that ends lets go of the session.
  void drop() override;
  Clock::time_point idleSince() const override;
  const std::string& address() const override;

 private:
  struct Back;
  using Head = http::response<http::empty_body>;

  std::shared_ptr<Session> shared() { return shared_from_this(); }
  tcp::socket& socket() { return stream_->lowest().socket(); }
  void expireIn(std::chrono::milliseconds time) { stream_->lowest().expires_after(time); }
  void awaitArrival();
  void arrived(const End& client);
  void readCertificate();

  // ---- reading: http_session.cpp

  void readHead();
  void readBody();
  void read(bool whole);
  void came(bool whole, Error error, std::size_t count);
  bool hasCome(bool whole) const;
  void misread(const Error& error);
  void begin();
  void watchForEnd();

  // ---- answering: http_answers.cpp

  Head headOf(const std::string& content_type) const;
  void refuse(int status, Code code, const std::string& message);
  void respond(const HttpAnswer& answer);
  void sayGoodbye();
  void drain();
  void beginStream(const std::string& content_type, const std::string& keep_alive);
  void chunk(std::string bytes);
  void write(const std::string& bytes, bool pulls);
  void wrote(const Error& error, bool pulls);
  void endStream(const Status& how);
  void send(std::string bytes, HttpStream::Done done);
  void finishExchange();
  void wait(std::chrono::milliseconds time, std::function<void()> then);

  const std::shared_ptr<Web> web_;
  const std::unique_ptr<HttpStream> stream_;
  asio::steady_timer timer_;        ///< while no operation of the stream goes on
  std::optional<Arrival> arrival_;  ///< until it is known whose connection this is
  Peer peer_;
  Clock::time_point idle_since_ = Clock::now();
  beast::flat_buffer buffer_{kMostHeadBytes + kMostBodyBytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::shared_ptr<Exchange> exchange_;  ///< while a request waits for its answer, or the rest of it
  std::string caller_;                  ///< of that request
  bool keeps_ = false;                  ///< the connection, for a next request
  bool is_head_ = false;
  bool answered_ = false;
  bool writing_ = false;
  unsigned version_ = 11;
  bool streams_ = false;
  bool chunked_ = true;
  std::string keep_alive_;
  std::string sent_;            ///< the bytes being written
  std::string waiting_;         ///< a chunk that came during another write
  std::optional<Status> ends_;  ///< likewise
  std::array<char, 4096> drained_{};
  std::size_t drained_bytes_ = 0;
};

}  // namespace pop::popdistd::web
