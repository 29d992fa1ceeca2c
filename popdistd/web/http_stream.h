// SPDX-License-Identifier: Apache-2.0
// The bytes of one HTTP connection, over TLS or without. Behind an interface, since what Asio makes of a kind
// of stream takes a compiler a minute for each place that uses one.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <functional>
#include <memory>

namespace pop::popdistd::web {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using Error = beast::error_code;

/// On the web thread. An operation that has begun ends with a call of its `Done`, which lets go of it.
class HttpStream {
 public:
  using Done = std::function<void(Error, std::size_t)>;

  virtual ~HttpStream() = default;
  /// Nothing, without TLS.
  virtual void handshake(Done done) = 0;
  virtual void readSome(asio::mutable_buffer into, Done done) = 0;
  /// All of them.
  virtual void write(asio::const_buffer bytes, Done done) = 0;
  /// Without TLS; has the time limits of all operations.
  virtual beast::tcp_stream& lowest() = 0;
  /// The other end's certificate, which may be missing; nullptr without TLS.
  virtual SSL* tls() = 0;
};

std::unique_ptr<HttpStream> plainStream(tcp::socket socket);
std::unique_ptr<HttpStream> tlsStream(tcp::socket socket, asio::ssl::context& context);

}  // namespace pop::popdistd::web
