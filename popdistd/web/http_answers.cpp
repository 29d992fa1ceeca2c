// SPDX-License-Identifier: Apache-2.0
// The writes of an HTTP connection: answers, and streams in chunks.
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/serializer.hpp>
#include <utility>

#include "popdistd/web/http_session.h"

namespace pop::popdistd::web {
namespace {

constexpr std::chrono::milliseconds kLastWords{2000};

std::string textOf(const http::response<http::empty_body>& head) {
  http::response_serializer<http::empty_body> serializer(head);
  serializer.split(true);
  std::string text;
  Error error;
  while (!error && !serializer.is_header_done()) {
    serializer.next(error, [&](Error&, const auto& buffers) {
      text += beast::buffers_to_string(buffers);
      serializer.consume(beast::buffer_bytes(buffers));
    });
  }
  return text;
}

}  // namespace

Session::Head Session::headOf(const std::string& content_type) const {
  Head head;
  head.version(version_);
  head.keep_alive(keeps_ && !web_->stopping);
  head.set(http::field::content_type, content_type);
  head.set(http::field::cache_control, "no-store");
  head.set("X-Content-Type-Options", "nosniff");
  const bool is_page = content_type.starts_with("text/html");
  head.set("Content-Security-Policy",
           std::string(is_page ? "default-src 'self'; base-uri 'none'; form-action 'self'"
                               : "default-src 'none'") +
               "; frame-ancestors 'none'");
  head.set("Referrer-Policy", "no-referrer");
  return head;
}

void Session::send(std::string bytes, HttpStream::Done done) {
  sent_ = std::move(bytes);
  stream_->write(asio::buffer(sent_), std::move(done));
}

void Session::refuse(int status, Code code, const std::string& message) {
  keeps_ = false;
  HttpAnswer answer = errorAnswer({code, message});
  answer.status = status;
  respond(answer);
}

// A body is left out for HEAD, but not its size.
void Session::respond(const HttpAnswer& answer) {
  if (std::exchange(answered_, true)) return;
  finishExchange();
  Head head = headOf(answer.content_type);
  head.result(static_cast<unsigned>(answer.status));
  if (!answer.allow.empty()) head.set(http::field::allow, answer.allow);
  for (const auto& [name, value] : answer.headers) head.set(name, value);
  if (answer.status != 204 && answer.status != 304) head.content_length(answer.body.size());
  writing_ = true;
  expireIn(web_->options.write_timeout);
  send(textOf(head) + (std::exchange(is_head_, false) ? "" : answer.body),
       [self = shared(), again = head.keep_alive()](Error error, std::size_t) {
         self->writing_ = false;
         if (error) return self->drop();
         again ? self->readHead() : self->sayGoodbye();
       });
}

// A client that is still sending reads its answer only if nothing of what it sends is refused.
void Session::sayGoodbye() {
  Error ignored;
  socket().shutdown(tcp::socket::shutdown_send, ignored);
  expireIn(kLastWords);
  drain();
}

void Session::drain() {
  stream_->lowest().async_read_some(asio::buffer(drained_),
                                    [self = shared()](Error error, std::size_t count) {
                                      self->drained_bytes_ += count;
                                      if (error || self->drained_bytes_ > kMostBodyBytes) return self->drop();
                                      self->drain();
                                    });
}

// ---- streams

void Session::beginStream(const std::string& content_type, const std::string& keep_alive) {
  if (answered_) return;
  if (web_->streams_of[caller_] >= web_->options.most_streams_of_one)
    return refuse(429, Code::kResourceExhausted,
                  caller_ + " reads " + std::to_string(web_->options.most_streams_of_one) +
                      " streams already: end one first");
  ++web_->streams_of[caller_];
  answered_ = true;
  streams_ = true;
  keep_alive_ = keep_alive;
  chunked_ = version_ >= 11;
  if (!chunked_) keeps_ = false;
  Head head = headOf(content_type);
  head.chunked(chunked_);
  writing_ = true;
  timer_.cancel();
  expireIn(web_->options.write_timeout);
  send(textOf(head), [self = shared()](Error error, std::size_t) { self->wrote(error, true); });
}

void Session::chunk(std::string bytes) {
  if (writing_) {  // to keep the connection alive
    waiting_ = std::move(bytes);
    return;
  }
  write(bytes, true);
}

void Session::write(const std::string& bytes, bool pulls) {
  timer_.cancel();
  writing_ = true;
  expireIn(web_->options.write_timeout);
  send(chunked_ ? beast::buffers_to_string(http::make_chunk(asio::const_buffer(bytes.data(), bytes.size())))
                : bytes,
       [self = shared(), pulls](Error error, std::size_t) { self->wrote(error, pulls); });
}

void Session::wrote(const Error& error, bool pulls) {
  writing_ = false;
  if (error || !exchange_) return drop();
  stream_->lowest().expires_never();
  if (!waiting_.empty()) return write(std::exchange(waiting_, {}), true);
  if (ends_) return endStream(*ends_);
  if (pulls) exchange_->pull();
  if (keep_alive_.empty()) return;
  wait(web_->options.keep_alive, [this] {
    if (!writing_) write(keep_alive_, false);
  });
}

void Session::endStream(const Status& how) {
  if (writing_) {
    ends_ = how;
    return;
  }
  const bool again = how.ok() && chunked_ && keeps_ && !web_->stopping;
  ends_.reset();
  finishExchange();
  if (!how.ok() || !chunked_) return how.ok() ? sayGoodbye() : drop();
  expireIn(web_->options.write_timeout);
  writing_ = true;
  send(beast::buffers_to_string(http::make_chunk_last()), [self = shared(), again](Error error, std::size_t) {
    self->writing_ = false;
    if (error) return self->drop();
    again ? self->readHead() : self->sayGoodbye();
  });
}

// ---- ending

void Session::finishExchange() {
  timer_.cancel();
  if (std::exchange(streams_, false)) {
    const auto mine = web_->streams_of.find(caller_);
    if (--mine->second == 0) web_->streams_of.erase(mine);
  }
  if (exchange_) std::exchange(exchange_, nullptr)->close();
}

void Session::wait(std::chrono::milliseconds time, std::function<void()> then) {
  timer_.expires_after(time);
  timer_.async_wait([self = shared(), then = std::move(then)](Error error) {
    if (!error && self->exchange_) then();
  });
}

}  // namespace pop::popdistd::web
