// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/http_stream.h"

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <type_traits>
#include <utility>

namespace pop::popdistd::web {
namespace {

using Plain = beast::tcp_stream;
using Tls = asio::ssl::stream<beast::tcp_stream>;

template <typename Stream>
class StreamOf final : public HttpStream {
 public:
  template <typename... Arguments>
  explicit StreamOf(Arguments&&... arguments) : stream_(std::forward<Arguments>(arguments)...) {}

  void handshake(Done done) override {
    if constexpr (kHasTls) {
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [done = std::move(done)](Error error) { done(error, 0); });
    } else {
      asio::post(lowest().get_executor(), [done = std::move(done)] { done({}, 0); });
    }
  }
  void readSome(asio::mutable_buffer into, Done done) override {
    stream_.async_read_some(into, std::move(done));
  }
  void write(asio::const_buffer bytes, Done done) override {
    asio::async_write(stream_, bytes, std::move(done));
  }
  beast::tcp_stream& lowest() override {
    if constexpr (kHasTls)
      return stream_.next_layer();
    else
      return stream_;
  }
  SSL* tls() override {
    if constexpr (kHasTls)
      return stream_.native_handle();
    else
      return nullptr;
  }

 private:
  static constexpr bool kHasTls = std::is_same_v<Stream, Tls>;
  Stream stream_;
};

}  // namespace

std::unique_ptr<HttpStream> plainStream(tcp::socket socket) {
  return std::make_unique<StreamOf<Plain>>(std::move(socket));
}

std::unique_ptr<HttpStream> tlsStream(tcp::socket socket, asio::ssl::context& context) {
  return std::make_unique<StreamOf<Tls>>(beast::tcp_stream(std::move(socket)), context);
}

}  // namespace pop::popdistd::web
