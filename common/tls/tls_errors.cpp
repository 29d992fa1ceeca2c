// SPDX-License-Identifier: Apache-2.0
#include "common/tls/tls_errors.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <string>
#include <string_view>

namespace pop::tls {
namespace {

struct Cause {
  long number;
  std::string_view words;
};

constexpr std::string_view kWrongName =
    "its certificate is not for this name: use a name that it was made for (init-tls --host), or add this "
    "one";
constexpr std::string_view kNotTls =
    "it does not use TLS on that port: does the port belong to another service?";
constexpr std::string_view kNotAService =
    "the port is not that of an agent service of this version: does it belong to another service?";
constexpr std::string_view kNotOurs =
    "it does not accept your certificate (is it a user's, and of the same authority? see its log)";

// A client's errors about the service's certificate.
constexpr std::array<Cause, 5> kCertificateCauses{{
    {X509_V_ERR_HOSTNAME_MISMATCH, kWrongName},
    {X509_V_ERR_IP_ADDRESS_MISMATCH, kWrongName},
    {X509_V_ERR_CERT_HAS_EXPIRED,
     "its certificate has expired: its admin makes a new one with popdist-agent init-tls --overwrite"},
    {X509_V_ERR_CERT_NOT_YET_VALID, "its certificate is not valid yet by this host's clock: set the clock"},
    {X509_V_ERR_INVALID_PURPOSE, "its certificate is not a host's: its admin makes one with init-tls --host"},
}};

// Other errors of the handshake. An alert of the service is 1000 plus its number.
constexpr std::array<Cause, 14> kHandshakeCauses{{
    {SSL_R_WRONG_VERSION_NUMBER, kNotTls},
    {SSL_R_BAD_RECORD_TYPE, kNotTls},
    {SSL_R_PACKET_LENGTH_TOO_LONG, kNotTls},
    {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, kNotOurs},
    {SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, kNotOurs},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, kNotOurs},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, kNotOurs},
    {SSL_R_TLSV1_ALERT_UNKNOWN_CA, kNotOurs},
    {SSL_R_TLSV1_ALERT_DECRYPT_ERROR, kNotOurs},
    {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, kNotOurs},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
     "your certificate has expired by its clock: set that clock, or ask for a new certificate"},
    {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, "it supports neither TLS 1.2 nor TLS 1.3"},
    {SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, kNotAService},
    {SSL_R_NO_APPLICATION_PROTOCOL, kNotAService},
}};

template <std::size_t kCount>
std::string_view find(const std::array<Cause, kCount>& causes, long number) {
  for (const Cause& cause : causes) {
    if (cause.number == number) return cause.words;
  }
  return {};
}

// OpenSSL's other libraries use the same numbers for other reasons.
int reasonOf(const TlsFailure& failure) {
  return ERR_GET_LIB(failure.error) == ERR_LIB_SSL ? ERR_GET_REASON(failure.error) : 0;
}

std::string textOf(unsigned long error) {
  const char* const text = ERR_reason_error_string(error);
  return text == nullptr ? "error " + std::to_string(error) : text;
}

std::string forClient(const TlsFailure& failure) {
  if (reasonOf(failure) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    const std::string_view words = find(kCertificateCauses, failure.verify_result);
    if (!words.empty()) return std::string(words);
    return std::string("its certificate is not signed by the ca.pem of --agent-tls (") +
           X509_verify_cert_error_string(failure.verify_result) + ')';
  }
  const std::string_view words = find(kHandshakeCauses, reasonOf(failure));
  return words.empty() ? "TLS has failed: " + textOf(failure.error) : std::string(words);
}

std::string forServer(const TlsFailure& failure) {
  if (reasonOf(failure) == SSL_R_CERTIFICATE_VERIFY_FAILED)
    return std::string("its certificate is refused: ") + X509_verify_cert_error_string(failure.verify_result);
  return "TLS has failed: " + textOf(failure.error);
}

}  // namespace

Status explainTls(const TlsFailure& failure) {
  return unavailable(failure.is_server ? forServer(failure) : forClient(failure));
}

}  // namespace pop::tls
