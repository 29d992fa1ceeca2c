// SPDX-License-Identifier: Apache-2.0
#include "common/tls/peer_user.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/tls/openssl_handles.h"

namespace pop::tls {
namespace {

using namespace openssl;

using AlternativeNames = std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>>;

// Names of one kind: GEN_URI, GEN_DNS, GEN_IPADD (bytes).
std::vector<std::string> namesIn(X509* certificate, int kind) {
  const AlternativeNames names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> found;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != kind) continue;
    const auto* const text = static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(name, nullptr));
    found.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                       static_cast<std::size_t>(ASN1_STRING_length(text)));
  }
  return found;
}

std::vector<std::string> urisOf(X509* certificate) {
  return namesIn(certificate, GEN_URI);
}

using Purposes = std::unique_ptr<EXTENDED_KEY_USAGE, Freer<EXTENDED_KEY_USAGE_free>>;

}  // namespace

Result<std::string> userOf(X509* certificate) {
  if (certificate == nullptr) return Status(Code::kPermissionDenied, "the client sent no certificate");
  if (isOfIssuer(certificate))
    return Status(Code::kPermissionDenied,
                  "the client's certificate was signed by popdistd's issuer, for a job");
  return userFromUris(urisOf(certificate));
}

Result<Client> clientOf(X509* certificate) {
  if (certificate != nullptr && isForJobs(certificate)) {
    POP_ASSIGN_OR_RETURN(JobName job, jobFromUris(urisOf(certificate)));
    std::string user = job.user;
    return Client{std::move(user), std::move(job)};
  }
  POP_ASSIGN_OR_RETURN(std::string user, userOf(certificate));
  return Client{std::move(user), {}};
}

std::vector<std::string> hostNamesOf(X509* certificate) {
  std::vector<std::string> names = namesIn(certificate, GEN_DNS);
  for (const std::string& bytes : namesIn(certificate, GEN_IPADD)) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (bytes.size() != 4 && bytes.size() != 16) continue;
    if (::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size()) !=
        nullptr)
      names.emplace_back(text.data());
  }
  return names;
}

bool isForJobs(X509* certificate) {
  const Purposes purposes(
      static_cast<EXTENDED_KEY_USAGE*>(X509_get_ext_d2i(certificate, NID_ext_key_usage, nullptr, nullptr)));
  if (!purposes || sk_ASN1_OBJECT_num(purposes.get()) != 1) return false;
  std::array<char, 80> text{};
  OBJ_obj2txt(text.data(), static_cast<int>(text.size()), sk_ASN1_OBJECT_value(purposes.get(), 0), 1);
  return std::string_view(text.data()) == kForJobs;
}

bool isOfIssuer(X509* certificate) {
  std::array<char, 80> name{};
  X509_NAME_get_text_by_NID(X509_get_issuer_name(certificate), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  return std::string_view(name.data()) == kIssuerName;
}

bool isOfIssuer(std::string_view pem) {
  const Certificate certificate = nextCertificate(reading(pem));
  return !certificate || isOfIssuer(certificate.get());
}

bool isHosts(X509* certificate) {
  const std::uint32_t usage = X509_get_extended_key_usage(certificate);
  const bool is_for_servers = usage != UINT32_MAX && (usage & XKU_SSL_SERVER) != 0;
  return is_for_servers && !userOf(certificate).ok();
}

// OpenSSL's server has the client's own certificate apart from the others.
std::string shownBy(const SSL* connection) {
  const Certificate own(SSL_get1_peer_certificate(connection));
  const Bio text(BIO_new(BIO_s_mem()));
  if (!own || !text) return {};
  PEM_write_bio_X509(text.get(), own.get());
  const STACK_OF(X509)* const others = SSL_get_peer_cert_chain(connection);
  for (int i = 0; i < sk_X509_num(others); ++i) PEM_write_bio_X509(text.get(), sk_X509_value(others, i));
  return textOf(text);
}

}  // namespace pop::tls
