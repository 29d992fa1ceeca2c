// SPDX-License-Identifier: Apache-2.0
#include "common/tls/tls_cipher.h"

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "common/base/check.h"
#include "common/tls/peer_user.h"
#include "common/tls/tls_errors.h"
#include "common/tls/tls_session.h"

namespace pop::tls {
namespace {

// The maximum payload of a TLS record.
constexpr std::size_t kRecordBytes = 16 << 10;

// Maximum number of key updates that the peer may request in a connection. Keys last for a quarter of a TiB;
// an update costs hundreds of times as much as reading its bytes.
constexpr int kMaxKeyUpdates = 32;

// OpenSSL answers every request at once and reads on; it stops reading only when the connection is shut down.
void countKeyUpdates(int is_ours, int, int content_type, const void* bytes, std::size_t size, SSL* connection,
                     void* session) {
  if (is_ours != 0 || content_type != SSL3_RT_HANDSHAKE || size == 0) return;
  if (*static_cast<const unsigned char*>(bytes) != SSL3_MT_KEY_UPDATE) return;
  if (++static_cast<TlsCipher::Session*>(session)->key_updates > kMaxKeyUpdates)
    SSL_set_shutdown(connection, SSL_RECEIVED_SHUTDOWN);
}

}  // namespace

TlsCipher::TlsCipher(std::unique_ptr<Session> session) : session_(std::move(session)) {
  SSL_set_msg_callback(session_->connection.get(), countKeyUpdates);
  SSL_set_msg_callback_arg(session_->connection.get(), session_.get());
}

TlsCipher::~TlsCipher() = default;

Status TlsCipher::receive(std::string_view arrived, std::string& plain, std::string& wire) {
  POP_CHECK(arrived.size() <= INT_MAX);
  ERR_clear_error();
  BIO_write(session_->arrived, arrived.data(), static_cast<int>(arrived.size()));
  if (!established_) POP_RETURN_IF_ERROR(shakeHands(wire));
  if (!established_) return {};
  Status status = decrypt(plain);
  takeOutgoing(wire);
  return status;
}

Status TlsCipher::shakeHands(std::string& wire) {
  const int outcome = SSL_do_handshake(session_->connection.get());
  Status status = outcome == 1 ? checkProtocol() : failure(outcome);
  established_ = outcome == 1 && status.ok();
  takeOutgoing(wire);
  if (established_) encrypt(std::exchange(waiting_, {}), wire);
  return status;
}

// OpenSSL does not require the peer to offer a protocol, and a service may choose one that was not offered.
Status TlsCipher::checkProtocol() const {
  const unsigned char* chosen = nullptr;
  unsigned int bytes = 0;
  SSL_get0_alpn_selected(session_->connection.get(), &chosen, &bytes);
  if (std::string_view(reinterpret_cast<const char*>(chosen), bytes) == kProtocolName) return {};
  return explainTls(
      {.is_server = session_->is_server, .error = ERR_PACK(ERR_LIB_SSL, 0, SSL_R_NO_APPLICATION_PROTOCOL)});
}

Status TlsCipher::decrypt(std::string& plain) {
  std::array<char, kRecordBytes> record;
  while (true) {
    const int got = SSL_read(session_->connection.get(), record.data(), static_cast<int>(record.size()));
    if (got <= 0) return failure(got);
    plain.append(record.data(), static_cast<std::size_t>(got));
  }
}

void TlsCipher::send(std::string_view plain, std::string& wire) {
  if (!established_) {
    const bool begins = waiting_.empty() && !session_->is_server;
    waiting_ += plain;
    if (begins) static_cast<void>(shakeHands(wire));  // receive() reports errors
    return;
  }
  encrypt(plain, wire);
}

// A memory BIO accepts everything and never shrinks, so it is emptied after each record.
void TlsCipher::encrypt(std::string_view plain, std::string& wire) {
  while (!plain.empty()) {
    const std::string_view part = plain.substr(0, kRecordBytes);
    if (SSL_write(session_->connection.get(), part.data(), static_cast<int>(part.size())) <= 0) return;
    takeOutgoing(wire);
    plain.remove_prefix(part.size());
  }
}

void TlsCipher::takeOutgoing(std::string& wire) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(session_->outgoing, &bytes);
  if (size <= 0) return;
  wire.append(bytes, static_cast<std::size_t>(size));
  BIO_reset(session_->outgoing);
}

// OK: no error, more bytes are needed.
Status TlsCipher::failure(int outcome) const {
  const int error = SSL_get_error(session_->connection.get(), outcome);
  if (session_->key_updates > kMaxKeyUpdates)
    return {Code::kResourceExhausted, "it requests new keys too often"};
  if (error == SSL_ERROR_WANT_READ) return {};
  if (error == SSL_ERROR_ZERO_RETURN) return unavailable("the connection was closed");
  const TlsFailure failure{.is_server = session_->is_server,
                           .error = ERR_peek_error(),
                           .verify_result = SSL_get_verify_result(session_->connection.get())};
  ERR_clear_error();
  return explainTls(failure);
}

Result<Client> TlsCipher::client() const {
  X509* const certificate = SSL_get0_peer_certificate(session_->connection.get());
  return clientOf(established_ ? certificate : nullptr);
}

}  // namespace pop::tls
