// SPDX-License-Identifier: Apache-2.0
#include "common/tls/resumption.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/tls/served_sessions.h"
#include "common/tls/validity.h"

namespace pop::tls {
namespace {

using namespace openssl;

// OpenSSL's SSL_SESSION_ASN1: a sequence of fields; this one is the peer's certificate.
constexpr int kCertificateField = 3;

// Cuts one value off the beginning of `der`.
struct Value {
  int tag = 0;
  std::string_view header;
  std::string_view content;
};

std::optional<Value> firstOf(std::string_view der) {
  const auto* const begin = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* at = begin;
  long bytes = 0;
  int tag = 0;
  int kind = 0;
  // 0x80: an error; 1: an indefinite length, which DER does not allow.
  const int outcome = ASN1_get_object(&at, &bytes, &tag, &kind, static_cast<long>(der.size()));
  if ((outcome & 0x81) != 0) return std::nullopt;
  const auto header = static_cast<std::size_t>(at - begin);
  return Value{tag, der.substr(0, header), der.substr(header, static_cast<std::size_t>(bytes))};
}

// It was checked when the session began; parsing it again would be the slowest part of a handshake.
std::string withoutCertificate(std::string_view session) {
  const std::optional<Value> sequence = firstOf(session);
  if (!sequence) return {};
  std::string fields;
  for (std::string_view rest = sequence->content; !rest.empty();) {
    const std::optional<Value> field = firstOf(rest);
    if (!field) return {};
    const std::size_t bytes = field->header.size() + field->content.size();
    if (field->tag != kCertificateField) fields += rest.substr(0, bytes);
    rest.remove_prefix(bytes);
  }
  std::string header(16, '\0');
  auto* at = reinterpret_cast<unsigned char*>(header.data());
  ASN1_put_object(&at, 1, static_cast<int>(fields.size()), V_ASN1_SEQUENCE, V_ASN1_UNIVERSAL);
  header.resize(static_cast<std::size_t>(at - reinterpret_cast<unsigned char*>(header.data())));
  return header + fields;
}

TlsSession sessionIn(const std::string& secret) {
  const auto* at = reinterpret_cast<const unsigned char*>(secret.data());
  TlsSession session(d2i_SSL_SESSION(nullptr, &at, static_cast<long>(secret.size())));
  ERR_clear_error();
  return session;
}

std::string secretOf(SSL_SESSION* session) {
  unsigned char* bytes = nullptr;
  const int size = i2d_SSL_SESSION(session, &bytes);
  if (size <= 0) return {};
  const std::string der(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  std::string secret = withoutCertificate(der);
  return sessionIn(secret) ? secret : std::string();
}

// Only sessions from a handshake in which the service has shown its certificate: a session must not outlive
// the certificates that it began with, whatever lifetime the service offers. Sessions of TLS 1.2 are not
// kept.
void keep(SSL* connection, SSL_SESSION* session) {
  const auto* const ours = static_cast<const TlsCipher::Session*>(SSL_get_app_data(connection));
  const std::optional<Validity> validity = validityOf(SSL_get0_verified_chain(connection));
  if (!ours->kept || !validity || SSL_version(connection) != TLS1_3_VERSION) return;
  const auto offered = static_cast<std::time_t>(SSL_SESSION_get_ticket_lifetime_hint(session));
  const std::time_t lifetime = std::min<std::time_t>(offered, ServedSessions::kLifetimeSeconds);
  std::string secret = secretOf(session);
  if (!secret.empty())
    ours->kept->keep(ours->service, std::min(validity->until, ours->kept->now() + lifetime),
                     std::move(secret));
}

}  // namespace

void keepNewSessions(SSL_CTX* context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, [](SSL* connection, SSL_SESSION* session) {
    keep(connection, session);
    return 0;  // the session stays OpenSSL's
  });
}

void resume(TlsCipher::Session& session) {
  SSL_set_app_data(session.connection.get(), &session);
  const std::string secret = session.kept ? session.kept->find(session.service) : std::string();
  if (secret.empty()) return;
  const TlsSession known = sessionIn(secret);
  if (known) SSL_set_session(session.connection.get(), known.get());
}

}  // namespace pop::tls
