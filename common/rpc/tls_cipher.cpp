// SPDX-License-Identifier: Apache-2.0
#include "common/rpc/tls_cipher.h"

#include <algorithm>
#include <array>
#include <climits>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/rpc/certificates.h"
#include "common/rpc/tls_errors.h"
#include "common/rpc/tls_session.h"

namespace pop::rpc {
namespace {

using namespace openssl;

// The most that a record of TLS carries.
constexpr std::size_t kRecordBytes = 16 << 10;

using AlternativeNames = std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>>;

std::vector<std::string> urisOf(X509* certificate) {
  const AlternativeNames names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> uris;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* const uri = name->d.uniformResourceIdentifier;
    uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                      static_cast<std::size_t>(ASN1_STRING_length(uri)));
  }
  return uris;
}

}  // namespace

TlsCipher::TlsCipher(std::unique_ptr<Session> session) : session_(std::move(session)) {}

// How a connection ends is said inside of it. For OpenSSL a session whose connection ends without its own
// farewell is one that must not be resumed.
TlsCipher::~TlsCipher() {
  SSL_set_shutdown(session_->connection.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

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
  if (!status.ok() && session_->kept) session_->kept->forget(session_->service);
  if (established_) encrypt(std::exchange(waiting_, {}));
  takeOutgoing(wire);
  return status;
}

// Who offers no protocol at all is not asked for one by OpenSSL, and a service may choose what was not
// offered.
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
    if (begins) static_cast<void>(shakeHands(wire));  // what fails is in what arrives
    return;
  }
  encrypt(plain);
  takeOutgoing(wire);
}

// Into memory, which takes everything.
void TlsCipher::encrypt(std::string_view plain) {
  while (!plain.empty()) {
    const std::string_view part = plain.substr(0, kRecordBytes);
    if (SSL_write(session_->connection.get(), part.data(), static_cast<int>(part.size())) <= 0) return;
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

// OK: nothing has failed, more bytes are needed.
Status TlsCipher::failure(int outcome) const {
  const int error = SSL_get_error(session_->connection.get(), outcome);
  if (error == SSL_ERROR_WANT_READ) return {};
  if (error == SSL_ERROR_ZERO_RETURN) return unavailable("the connection was closed");
  const TlsFailure failure{.is_server = session_->is_server,
                           .error = ERR_peek_error(),
                           .verify_result = SSL_get_verify_result(session_->connection.get())};
  ERR_clear_error();
  return explainTls(failure);
}

Result<std::string> TlsCipher::peerUser() const {
  X509* const certificate = SSL_get0_peer_certificate(session_->connection.get());
  if (!established_ || certificate == nullptr)
    return Status(Code::kPermissionDenied, "the client has shown no certificate");
  return userFromUris(urisOf(certificate));
}

bool TlsCipher::resumed() const {
  return SSL_session_reused(session_->connection.get()) == 1;
}

void TlsCipher::offerSession() {
  if (!established_ || resumed()) return;
  SSL_new_session_ticket(session_->connection.get());  // fails with TLS 1.2, which has none
  ERR_clear_error();
}

}  // namespace pop::rpc
