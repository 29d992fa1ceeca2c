// SPDX-License-Identifier: Apache-2.0
// One connection of the HTTP server: requests and answers, limits and timeouts. For http_server.cpp alone,
// since Beast's headers take a compiler longest.
#pragma once

#include "popdistd/web/http_web.h"

namespace pop::popdistd::web {

/// One connection, request after request.
template <typename Stream>
class Session final : public AnySession, public std::enable_shared_from_this<Session<Stream>> {
 public:
  template <typename... Arguments>
  explicit Session(std::shared_ptr<Web> web, Arguments&&... arguments)
      : web_(std::move(web)), stream_(std::forward<Arguments>(arguments)...), timer_(web_->io) {
    standing.number = ++web_->newest;
    web_->sessions.insert(this);
  }
  ~Session() override {
    web_->sessions.erase(this);
    if (web_->stopping && web_->sessions.empty()) web_->io.stop();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() {
    Error error;
    const tcp::endpoint peer = socket().remote_endpoint(error);
    peer_.has_tls = kHasTls;
    peer_.address = error ? "" : peer.address().to_string();
    standing.address = peer_.address;
    peer_.port = error ? "" : std::to_string(peer.port());
    socket().set_option(tcp::no_delay(true), error);
    if constexpr (kHasTls) {
      expireIn(web_->options.head_timeout);
      stream_.async_handshake(asio::ssl::stream_base::server, [self = shared()](Error failed) {
        if (failed) return;
        self->readCertificate();
        self->readHead();
      });
    } else {
      readHead();
    }
  }

  void stop() override {
    if (exchange_ && !answered_) return refuse(503, Code::kUnavailable, web_->why_stopping.message());
    if (!writing_ || streams_) drop();
  }

  // The last operation that ends lets go of the session.
  void drop() override {
    is_closed = true;
    finishExchange();
    lowest().close();
  }

 private:
  static constexpr bool kHasTls = std::is_same_v<Stream, Tls>;

  // The exchange's way back: it outlives the session, and the web thread too.
  struct Back final : Connection {
    explicit Back(std::shared_ptr<Web> of, std::weak_ptr<Session> session)
        : web(std::move(of)), to(std::move(session)) {}

    template <typename Task>
    void post(Task task) {
      asio::post(web->io, [to_session = to, task = std::move(task)]() mutable {
        if (const auto session = to_session.lock()) task(*session);
      });
    }
    void answer(HttpAnswer answer) override {
      post([answer = std::move(answer)](Session& session) { session.respond(answer); });
    }
    void beginStream(std::string content_type, std::string keep_alive) override {
      post([content_type = std::move(content_type), keep_alive = std::move(keep_alive)](Session& session) {
        session.beginStream(content_type, keep_alive);
      });
    }
    void chunk(std::string bytes) override {
      post([bytes = std::move(bytes)](Session& session) { session.chunk(bytes); });
    }
    void endStream(Status how) override {
      post([how = std::move(how)](Session& session) { session.endStream(how); });
    }

    const std::shared_ptr<Web> web;
    const std::weak_ptr<Session> to;
  };

  std::shared_ptr<Session> shared() { return this->shared_from_this(); }
  auto& lowest() { return beast::get_lowest_layer(stream_); }
  tcp::socket& socket() { return lowest().socket(); }
  void expireIn(std::chrono::milliseconds time) { lowest().expires_after(time); }

  void readCertificate() {
    if constexpr (kHasTls) {
      const std::unique_ptr<X509, decltype(&X509_free)> certificate(
          SSL_get1_peer_certificate(stream_.native_handle()), X509_free);
      if (certificate == nullptr) return;
      const Result<std::string> user = tls::userOf(certificate.get());
      if (user.ok())
        peer_.uris = {std::string(tls::kUserUriPrefix) + user.value()};
      else
        peer_.names = {"a host"};
    }
  }

  // ---- reading

  void readHead() {
    if (web_->stopping) return drop();
    parser_.emplace();
    parser_->header_limit(kMostHeadBytes);
    parser_->body_limit(kMostBodyBytes);
    answered_ = false;
    standing.is_busy = false;
    expireIn(web_->options.head_timeout);
    http::async_read_header(stream_, buffer_, *parser_, [self = shared()](Error error, std::size_t) {
      if (error) return self->misread(error);
      self->readBody();
    });
  }

  void readBody() {
    const auto& head = parser_->get();
    keeps_ = head.keep_alive();
    if (parser_->is_done()) return begin();
    if (!beast::iequals(head[http::field::expect], "100-continue")) return readRest();
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    expireIn(web_->options.write_timeout);
    asio::async_write(stream_, asio::buffer(kContinue), [self = shared()](Error error, std::size_t) {
      if (!error) self->readRest();
    });
  }

  void readRest() {
    expireIn(web_->options.body_timeout);
    http::async_read(stream_, buffer_, *parser_, [self = shared()](Error error, std::size_t) {
      if (error) return self->misread(error);
      self->begin();
    });
  }

  void misread(const Error& error) {
    keeps_ = false;
    if (error == http::error::end_of_stream || error == beast::error::timeout) return drop();
    if (error == http::error::header_limit)
      return refuse(431, Code::kResourceExhausted, "the head of a request has at most 16 KiB");
    if (error == http::error::body_limit)
      return refuse(413, Code::kResourceExhausted, "a request has at most 4 MiB");
    if (error.category() != http::make_error_code(http::error::end_of_stream).category()) return drop();
    refuse(400, Code::kInvalidArgument, "this is not HTTP: " + error.message());
  }

  void begin() {
    lowest().expires_never();
    http::request<http::string_body> got = parser_->release();
    const auto field = [&got](http::field name) { return std::string(got[name]); };
    HttpRequest request{.method = std::string(got.method_string()),
                        .target = std::string(got.target()),
                        .host = field(http::field::host),
                        .content_type = field(http::field::content_type),
                        .last_event_id = std::string(got["Last-Event-ID"]),
                        .if_none_match = field(http::field::if_none_match),
                        .origin = field(http::field::origin),
                        .own_header = std::string(got["X-Popdist"]),
                        .takes_gzip = field(http::field::accept_encoding).find("gzip") != std::string::npos,
                        .has_tls = kHasTls,
                        .peer = peer_,
                        .session = sessionInCookies(std::string(got[http::field::cookie]))};
    request.caller = web_->options.identify(
        peer_, {.authorization = field(http::field::authorization), .session = request.session});
    standing.user = request.caller.ok() ? std::optional(request.caller.value().user) : std::nullopt;
    standing.is_busy = true;
    request.body = std::move(got.body());
    is_head_ = request.method == "HEAD";
    version_ = got.version();
    exchange_ = std::make_shared<Exchange>(
        web_->to_loop, std::make_shared<Back>(web_, this->weak_from_this()), std::move(request));
    exchange_->begin();
    watchForEnd();
    wait(web_->options.answer_timeout,
         [this] { refuse(504, Code::kDeadlineExceeded, "there was no answer in time: ask again"); });
  }

  // A client that goes takes what was started for it along. Bytes that come are a next request, or TLS's.
  void watchForEnd() {
    socket().async_wait(tcp::socket::wait_read, [self = shared(), exchange = exchange_](Error error) {
      if (error || exchange != self->exchange_) return;
      char byte = 0;
      const ssize_t count = ::recv(self->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      const bool is_there = count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
      if (!is_there) self->drop();
    });
  }

  // ---- answering

  template <typename Body>
  void setHead(http::response<Body>& response, const std::string& content_type) {
    response.version(version_);
    response.keep_alive(keeps_ && !web_->stopping);
    response.set(http::field::content_type, content_type);
    response.set(http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    const bool is_page = content_type.starts_with("text/html");
    response.set("Content-Security-Policy",
                 std::string(is_page ? "default-src 'self'; base-uri 'none'; form-action 'self'"
                                     : "default-src 'none'") +
                     "; frame-ancestors 'none'");
    response.set("Referrer-Policy", "no-referrer");
  }

  void refuse(int status, Code code, const std::string& message) {
    keeps_ = false;
    HttpAnswer answer = errorAnswer({code, message});
    answer.status = status;
    respond(answer);
  }

  // A body is left out for HEAD, but not its size.
  void respond(const HttpAnswer& answer) {
    if (std::exchange(answered_, true)) return;
    finishExchange();
    response_.emplace();
    setHead(*response_, answer.content_type);
    response_->result(static_cast<unsigned>(answer.status));
    if (!answer.allow.empty()) response_->set(http::field::allow, answer.allow);
    for (const auto& [name, value] : answer.headers) response_->set(name, value);
    if (answer.status != 204 && answer.status != 304) response_->content_length(answer.body.size());
    if (!is_head_) response_->body() = answer.body;
    is_head_ = false;
    serializer_.emplace(*response_);
    writing_ = true;
    expireIn(web_->options.write_timeout);
    http::async_write(stream_, *serializer_, [self = shared()](Error error, std::size_t) {
      self->writing_ = false;
      if (error) return self->drop();
      if (self->response_->keep_alive()) return self->readHead();
      self->sayGoodbye();
    });
  }

  // A client that is still sending reads its answer only if nothing of what it sends is refused.
  void sayGoodbye() {
    Error ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    expireIn(kLastWords);
    drain();
  }

  void drain() {
    lowest().async_read_some(asio::buffer(drained_), [self = shared()](Error error, std::size_t count) {
      self->drained_bytes_ += count;
      if (error || self->drained_bytes_ > kMostBodyBytes) return self->drop();
      self->drain();
    });
  }

  // ---- streams

  void beginStream(const std::string& content_type, const std::string& keep_alive) {
    if (std::exchange(answered_, true)) return;
    streams_ = true;
    keep_alive_ = keep_alive;
    chunked_ = version_ >= 11;
    if (!chunked_) keeps_ = false;
    head_.emplace();
    setHead(*head_, content_type);
    head_->chunked(chunked_);
    head_serializer_.emplace(*head_);
    writing_ = true;
    timer_.cancel();
    expireIn(web_->options.write_timeout);
    http::async_write_header(stream_, *head_serializer_,
                             [self = shared()](Error error, std::size_t) { self->wrote(error, true); });
  }

  void chunk(std::string bytes) {
    if (writing_) {  // to keep the connection alive
      waiting_ = std::move(bytes);
      return;
    }
    write(std::move(bytes), true);
  }

  void write(std::string bytes, bool pulls) {
    timer_.cancel();
    chunk_ = std::move(bytes);
    writing_ = true;
    expireIn(web_->options.write_timeout);
    const auto done = [self = shared(), pulls](Error error, std::size_t) { self->wrote(error, pulls); };
    if (chunked_)
      asio::async_write(stream_, http::make_chunk(asio::const_buffer(chunk_.data(), chunk_.size())), done);
    else
      asio::async_write(stream_, asio::buffer(chunk_), done);
  }

  void wrote(const Error& error, bool pulls) {
    writing_ = false;
    if (error || !exchange_) return drop();
    lowest().expires_never();
    if (!waiting_.empty()) return write(std::exchange(waiting_, {}), true);
    if (ends_) return endStream(*ends_);
    if (pulls) exchange_->pull();
    if (keep_alive_.empty()) return;
    wait(web_->options.keep_alive, [this] {
      if (!writing_) write(keep_alive_, false);
    });
  }

  void endStream(const Status& how) {
    if (writing_) {
      ends_ = how;
      return;
    }
    const bool again = how.ok() && chunked_ && keeps_ && !web_->stopping;
    streams_ = false;
    ends_.reset();
    finishExchange();
    if (!how.ok() || !chunked_) return how.ok() ? sayGoodbye() : drop();
    expireIn(web_->options.write_timeout);
    writing_ = true;
    asio::async_write(stream_, http::make_chunk_last(), [self = shared(), again](Error error, std::size_t) {
      self->writing_ = false;
      if (error) return self->drop();
      again ? self->readHead() : self->sayGoodbye();
    });
  }

  // ---- ending

  void finishExchange() {
    timer_.cancel();
    if (exchange_) std::exchange(exchange_, nullptr)->close();
  }

  void wait(std::chrono::milliseconds time, std::function<void()> then) {
    timer_.expires_after(time);
    timer_.async_wait([self = shared(), then = std::move(then)](Error error) {
      if (!error && self->exchange_) then();
    });
  }

  const std::shared_ptr<Web> web_;
  Stream stream_;
  asio::steady_timer timer_;  ///< while no operation of the stream goes on
  Peer peer_;
  beast::flat_buffer buffer_{kMostHeadBytes + kMostBodyBytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::shared_ptr<Exchange> exchange_;  ///< while a request waits for its answer, or the rest of it
  bool keeps_ = false;                  ///< the connection, for a next request
  bool is_head_ = false;
  bool answered_ = false;
  bool writing_ = false;
  unsigned version_ = 11;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::optional<http::response<http::empty_body>> head_;
  std::optional<http::response_serializer<http::empty_body>> head_serializer_;
  bool streams_ = false;
  bool chunked_ = true;
  std::string keep_alive_;
  std::string chunk_;
  std::string waiting_;         ///< a chunk that came during another write
  std::optional<Status> ends_;  ///< likewise
  std::array<char, 4096> drained_{};
  std::size_t drained_bytes_ = 0;
};

// Clients may show a certificate; one of another authority ends the handshake.

}  // namespace pop::popdistd::web
