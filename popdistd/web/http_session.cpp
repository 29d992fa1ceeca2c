// SPDX-License-Identifier: Apache-2.0
// A connection's life and its requests; answers: http_answers.cpp.
#include "popdistd/web/http_session.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/beast/core/string.hpp>
#include <cerrno>
#include <utility>

#include "common/tls/certificates.h"
#include "common/tls/peer_user.h"
#include "popdistd/web/cookies.h"

namespace pop::popdistd::web {
namespace {

constexpr std::size_t kReadBytes = 16 * 1024;

// As the header of one that is passed on has it, so that a client is the same by both ways.
std::string numeric(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

}  // namespace

// The exchange's way back: it outlives the session, and the web thread too.
struct Session::Back final : Connection {
  Back(std::shared_ptr<Web> of, std::weak_ptr<Session> session)
      : web(std::move(of)), to(std::move(session)) {}

  void post(std::function<void(Session&)> task) const {
    asio::post(web->io, [to_session = to, task = std::move(task)] {
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

Session::Session(std::shared_ptr<Web> web, std::unique_ptr<HttpStream> stream)
    : web_(std::move(web)), stream_(std::move(stream)), timer_(web_->io) {
  ++web_->connections;
  web_->sessions.insert(this);
}

Session::~Session() {
  web_->sessions.erase(this);
  --web_->connections;
  if (web_->stopping && web_->sessions.empty()) web_->io.stop();
}

void Session::start() {
  Error error;
  const tcp::endpoint peer = socket().remote_endpoint(error);
  if (error) return;
  socket().set_option(tcp::no_delay(true), error);
  socket().native_non_blocking(true, error);
  arrival_.emplace(web_->options.headers, socket().native_handle(),
                   End{numeric(peer.address()), peer.port()});
  timer_.expires_after(web_->options.head_timeout);
  timer_.async_wait([weak = weak_from_this()](Error cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self != nullptr && self->arrival_) self->drop();
  });
  awaitArrival();
}

void Session::awaitArrival() {
  socket().async_wait(tcp::socket::wait_read, [self = shared()](Error error) {
    if (error) return;
    const Result<std::optional<End>> client = self->arrival_->look();
    if (!client.ok()) return self->drop();
    client.value() ? self->arrived(*client.value()) : self->awaitArrival();
  });
}

void Session::arrived(const End& client) {
  arrival_.reset();
  timer_.cancel();
  peer_ = {
      .has_tls = stream_->tls() != nullptr, .address = client.address, .port = std::to_string(client.port)};
  expireIn(web_->options.head_timeout);
  stream_->handshake([self = shared()](Error failed, std::size_t) {
    if (failed) return;
    self->readCertificate();
    self->readHead();
  });
}

void Session::readCertificate() {
  if (!peer_.has_tls) return;
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(stream_->tls()),
                                                                X509_free);
  if (certificate == nullptr) return;
  peer_.certificate = tls::shownBy(stream_->tls());
  const Result<std::string> user = tls::userOf(certificate.get());
  if (user.ok())
    peer_.uris = {std::string(tls::kUserUriPrefix) + user.value()};
  else
    peer_.names = {"a host"};
}

void Session::stop() {
  if (exchange_ && !answered_) return refuse(503, Code::kUnavailable, web_->why_stopping.message());
  if (!writing_ || streams_) drop();
}

void Session::drop() {
  finishExchange();
  stream_->lowest().close();
}

Clock::time_point Session::idleSince() const {
  return exchange_ || writing_ ? Clock::time_point::max() : idle_since_;
}

const std::string& Session::address() const {
  return arrival_ ? arrival_->peer().address : peer_.address;
}

// ---- reading

void Session::readHead() {
  if (web_->stopping) return drop();
  parser_.emplace();
  parser_->header_limit(kMostHeadBytes);
  parser_->body_limit(kMostBodyBytes);
  answered_ = false;
  idle_since_ = Clock::now();
  expireIn(web_->options.head_timeout);
  read(false);
}

void Session::readBody() {
  const auto& head = parser_->get();
  keeps_ = web_->options.keeps_connections && head.keep_alive();
  if (parser_->is_done()) return begin();
  expireIn(web_->options.body_timeout);
  if (!beast::iequals(head[http::field::expect], "100-continue")) return read(true);
  send("HTTP/1.1 100 Continue\r\n\r\n", [self = shared()](Error error, std::size_t) {
    if (!error) self->read(true);
  });
}

bool Session::hasCome(bool whole) const {
  return whole ? parser_->is_done() : parser_->is_header_done();
}

// Until the head has come, or the whole request. What was read before may have it.
void Session::read(bool whole) {
  parser_->eager(whole);
  Error error;
  while (buffer_.size() > 0 && !hasCome(whole)) {
    buffer_.consume(parser_->put(buffer_.data(), error));
    if (error == http::error::need_more) break;
    if (error) return misread(error);
  }
  if (hasCome(whole)) return whole ? begin() : readBody();
  stream_->readSome(buffer_.prepare(kReadBytes), [self = shared(), whole](Error failed, std::size_t count) {
    self->came(whole, failed, count);
  });
}

void Session::came(bool whole, Error error, std::size_t count) {
  buffer_.commit(count);
  if (!error) return read(whole);
  if (error != asio::error::eof || !parser_->got_some()) return drop();
  parser_->put_eof(error);
  if (error) return misread(error);
  read(whole);
}

void Session::misread(const Error& error) {
  keeps_ = false;
  if (error == http::error::header_limit)
    return refuse(431, Code::kResourceExhausted, "the head of a request has at most 16 KiB");
  if (error == http::error::body_limit)
    return refuse(413, Code::kResourceExhausted, "a request has at most 4 MiB");
  refuse(400, Code::kInvalidArgument, "this is not HTTP: " + error.message());
}

void Session::begin() {
  stream_->lowest().expires_never();
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
                      .has_tls = peer_.has_tls,
                      .peer = peer_,
                      .session = sessionInCookies(std::string(got[http::field::cookie]), peer_.has_tls)};
  request.caller = web_->options.identify(
      peer_, {.authorization = field(http::field::authorization), .session = request.session});
  caller_ = request.caller.ok() ? "user " + request.caller->user : peer_.address;
  request.body = std::move(got.body());
  is_head_ = request.method == "HEAD";
  version_ = got.version();
  exchange_ = std::make_shared<Exchange>(web_->to_loop, std::make_shared<Back>(web_, weak_from_this()),
                                         std::move(request));
  exchange_->begin();
  watchForEnd();
  wait(web_->options.answer_timeout,
       [this] { refuse(504, Code::kDeadlineExceeded, "there was no answer in time: ask again"); });
}

// A client that goes takes what was started for it along. Bytes that come are a next request, or TLS's.
void Session::watchForEnd() {
  socket().async_wait(tcp::socket::wait_read, [self = shared(), exchange = exchange_](Error error) {
    if (error || exchange != self->exchange_) return;
    char byte = 0;
    const ssize_t count = ::recv(self->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    const bool is_there = count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
    if (!is_there) self->drop();
  });
}

}  // namespace pop::popdistd::web
