// SPDX-License-Identifier: Apache-2.0
#include "common/tls/tls_try.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <memory>
#include <string_view>
#include <vector>

#include "common/sys/no_write_signal.h"
#include "common/tls/tls_objects.h"

namespace pop::tls {
namespace {

using namespace openssl;

constexpr std::string_view kRequest = "GET /version HTTP/1.0\r\n\r\n";

bool show(SSL_CTX* context, const KeyPair& pair) {
  const std::vector<Certificate> chain = certificatesIn(pair.certificate_pem);
  const Key key = keyFrom(pair.key_pem);
  if (chain.empty() || !key || SSL_CTX_use_certificate(context, chain.front().get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    return false;
  for (std::size_t i = 1; i < chain.size(); ++i)
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) return false;
  return true;
}

bool waitAtMost(int socket, std::chrono::milliseconds step) {
  const timeval time{.tv_sec = step.count() / 1000, .tv_usec = (step.count() % 1000) * 1000};
  const int flags = ::fcntl(socket, F_GETFL);
  return ::fcntl(socket, F_SETFL, flags & ~O_NONBLOCK) == 0 &&
         ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0 &&
         ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) == 0;
}

}  // namespace

bool isAnswered(sys::Fd socket, const std::optional<KeyPair>& shows, std::chrono::milliseconds step) {
  const std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>> context(SSL_CTX_new(TLS_client_method()));
  if (!context || (shows && !show(context.get(), *shows))) return false;
  const std::unique_ptr<SSL, Freer<SSL_free>> ssl(SSL_new(context.get()));
  const sys::NoWriteSignal quiet(SIGPIPE);  // OpenSSL writes without MSG_NOSIGNAL
  char byte = 0;
  const bool answered = ssl && waitAtMost(socket.get(), step) && SSL_set_fd(ssl.get(), socket.get()) == 1 &&
                        SSL_connect(ssl.get()) == 1 &&
                        SSL_write(ssl.get(), kRequest.data(), static_cast<int>(kRequest.size())) > 0 &&
                        SSL_read(ssl.get(), &byte, 1) > 0;
  ERR_clear_error();
  return answered;
}

}  // namespace pop::tls
