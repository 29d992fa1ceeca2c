// SPDX-License-Identifier: Apache-2.0
#include "common/tls/certificates.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/base/text.h"
#include "common/tls/openssl_handles.h"

namespace pop::tls {
namespace {

using namespace openssl;

constexpr long kSecondsPerDay = 24L * 60 * 60;
constexpr std::size_t kLongestName = 64;       // of a common name
constexpr std::size_t kLongestHostName = 253;  // of DNS
constexpr std::size_t kLongestLabel = 63;
constexpr std::size_t kLongestJobUri = 32 << 10;  // within what a service takes of a client (tls_context.cpp)

// The differences between the kinds of certificates: extensions beyond the common ones.
struct Purpose {
  std::string common_name;
  const char* basic_constraints;
  const char* key_usage;
  const char* extended_key_usage;  // null: none
  std::string alternative_names;   // empty: none
};

bool isAddress(std::string_view name) {
  std::array<std::uint8_t, 16> ignored{};
  const std::string text(name);
  return ::inet_pton(AF_INET, text.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), ignored.data()) == 1;
}

bool setSerial(X509* certificate) {
  BIGNUM* number = BN_new();
  // The highest bit stays clear: serial numbers are positive.
  const bool done = number != nullptr && BN_rand(number, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return done;
}

// Valid from yesterday on, because the clocks of hosts differ.
bool setDates(X509* certificate, int valid_days) {
  return X509_gmtime_adj(X509_getm_notBefore(certificate), -kSecondsPerDay) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), kSecondsPerDay * valid_days) != nullptr;
}

bool addExtension(X509* certificate, X509V3_CTX& context, int nid, const std::string& value) {
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool addExtensions(X509* certificate, X509* issuer, const Purpose& purpose) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const bool is_leaf = issuer != certificate;
  return addExtension(certificate, context, NID_basic_constraints, purpose.basic_constraints) &&
         addExtension(certificate, context, NID_key_usage, purpose.key_usage) &&
         addExtension(certificate, context, NID_subject_key_identifier, "hash") &&
         (!is_leaf || addExtension(certificate, context, NID_authority_key_identifier, "keyid")) &&
         (purpose.extended_key_usage == nullptr ||
          addExtension(certificate, context, NID_ext_key_usage, purpose.extended_key_usage)) &&
         (purpose.alternative_names.empty() ||
          addExtension(certificate, context, NID_subject_alt_name, purpose.alternative_names));
}

bool setSubject(X509* certificate, const std::string& common_name) {
  const std::string shortened = common_name.substr(0, kLongestName);
  return X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), NID_commonName, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(shortened.c_str()), -1, -1,
                                    0) == 1;
}

Result<KeyPair> inPem(const Certificate& certificate, const Key& key) {
  const Bio certificate_text(BIO_new(BIO_s_mem()));
  const Bio key_text(BIO_new(BIO_s_mem()));
  if (!certificate_text || !key_text || PEM_write_bio_X509(certificate_text.get(), certificate.get()) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return failed("writing a certificate");
  return KeyPair{textOf(certificate_text), textOf(key_text)};
}

// Signed by `issuer`, or by itself when that is null.
Result<KeyPair> make(const Purpose& purpose, int valid_days, X509* issuer, EVP_PKEY* issuer_key) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  if (!key || !certificate) return failed("making a key");
  X509* const signer = issuer != nullptr ? issuer : certificate.get();
  const bool made =
      X509_set_version(certificate.get(), X509_VERSION_3) == 1 && setSerial(certificate.get()) &&
      setDates(certificate.get(), valid_days) && setSubject(certificate.get(), purpose.common_name) &&
      X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer)) == 1 &&
      X509_set_pubkey(certificate.get(), key.get()) == 1 &&
      addExtensions(certificate.get(), signer, purpose) &&
      X509_sign(certificate.get(), issuer != nullptr ? issuer_key : key.get(), EVP_sha256()) > 0;
  if (!made) return failed("making the certificate of " + purpose.common_name);
  return inPem(certificate, key);
}

Result<KeyPair> makeSigned(const KeyPair& authority, const Purpose& purpose, int valid_days) {
  const Certificate issuer = nextCertificate(reading(authority.certificate_pem));
  const Key issuer_key = keyFrom(authority.key_pem);
  if (!issuer || !issuer_key) return invalidArgument("cannot read the authority's certificate or key");
  return make(purpose, valid_days, issuer.get(), issuer_key.get());
}

Result<KeyPair> makeAuthorityOf(const std::string& common_name, const char* basic_constraints,
                                int valid_days) {
  return make({common_name, basic_constraints, "critical,keyCertSign,cRLSign", nullptr, {}}, valid_days,
              nullptr, nullptr);
}

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool isJobId(const std::string& id) {
  return !id.empty() && id.size() <= kLongestName && std::all_of(id.begin(), id.end(), isNameCharacter);
}

// The rest of each URI that begins so.
std::vector<std::string> named(std::span<const std::string> uris, std::string_view prefix) {
  std::vector<std::string> names;
  for (const std::string& uri : uris) {
    if (uri.starts_with(prefix)) names.push_back(uri.substr(prefix.size()));
  }
  return names;
}

bool isLabel(const std::string& label) {
  return !label.empty() && label.size() <= kLongestLabel && label.front() != '-' &&
         std::all_of(label.begin(), label.end(), isNameCharacter);
}

}  // namespace

Result<KeyPair> makeAuthority(int valid_days) {
  return makeAuthorityOf("popdist agents", "critical,CA:TRUE,pathlen:1", valid_days);
}

Result<KeyPair> makeEtcdAuthority(int valid_days) {
  return makeAuthorityOf(std::string(kEtcdAuthorityName), "critical,CA:TRUE,pathlen:0", valid_days);
}

Result<KeyPair> makeIssuer(const KeyPair& authority, int valid_days) {
  return makeSigned(
      authority,
      {std::string(kIssuerName), "critical,CA:TRUE,pathlen:0", "critical,keyCertSign", kForJobs, {}},
      valid_days);
}

Result<KeyPair> makeHostCertificate(const KeyPair& authority, const std::vector<std::string>& names,
                                    int valid_days) {
  std::vector<std::string> alternatives;
  for (const std::string& name : names) {
    POP_RETURN_IF_ERROR(checkHostName(name));
    alternatives.push_back((isAddress(name) ? "IP:" : "DNS:") + name);
  }
  if (names.empty()) return invalidArgument("a host needs a name");
  return makeSigned(authority,
                    {names.front(), "critical,CA:FALSE", "critical,digitalSignature", "serverAuth,clientAuth",
                     join(alternatives, ",")},
                    valid_days);
}

Result<KeyPair> makeUserCertificate(const KeyPair& authority, const std::string& user, int valid_days) {
  POP_RETURN_IF_ERROR(checkUserName(user));
  return makeSigned(authority,
                    {user, "critical,CA:FALSE", "critical,digitalSignature", "clientAuth",
                     "URI:" + std::string(kUserUriPrefix) + user},
                    valid_days);
}

// The text of the extension has commas between names.
Result<KeyPair> makeJobCertificate(const KeyPair& issuer, const JobName& job, int valid_days) {
  POP_RETURN_IF_ERROR(checkUserName(job.user));
  for (const std::string& host : job.hosts) POP_RETURN_IF_ERROR(checkHostName(host));
  const std::string uri = std::string(kJobUriPrefix) + std::to_string(job.number) + ':' + job.id + ':' +
                          job.user + ':' + join(job.hosts, "+");
  if (job.number < 1 || job.hosts.empty() || !isJobId(job.id) || uri.size() > kLongestJobUri)
    return invalidArgument(
        "job " + std::to_string(job.number) + " cannot have a certificate: its id and its " +
        counted(static_cast<std::int64_t>(job.hosts.size()), "host") + " make a name of " +
        std::to_string(uri.size()) + " bytes, and " + std::to_string(kLongestJobUri) + " are the most");
  return makeSigned(issuer,
                    {"job " + std::to_string(job.number), "critical,CA:FALSE", "critical,digitalSignature",
                     kForJobs, "URI:" + uri},
                    valid_days);
}

Status checkUserName(std::string_view user) {
  const bool characters_ok = std::all_of(user.begin(), user.end(),
                                         [](char c) { return isNameCharacter(c) || c == '.' || c == '@'; });
  if (!user.empty() && user.size() <= kLongestName && characters_ok && user.front() != '.' &&
      user.front() != '-')
    return {};
  return invalidArgument(inQuotes(user) + " cannot be a name in a certificate: use at most " +
                         std::to_string(kLongestName) + " letters, digits and . _ - @");
}

Status checkHostName(std::string_view name) {
  if (isAddress(name)) return {};
  const std::vector<std::string> labels = split(name, '.');
  if (name.size() <= kLongestHostName && std::all_of(labels.begin(), labels.end(), isLabel)) return {};
  return invalidArgument(inQuotes(name) + " is neither a host name nor an IP address");
}

Result<std::string> userFromUris(std::span<const std::string> uris) {
  const std::vector<std::string> users = named(uris, kUserUriPrefix);
  if (!named(uris, kJobUriPrefix).empty())
    return Status(Code::kPermissionDenied, "the client's certificate is a job's, not a user's");
  if (users.size() != 1)
    return Status(Code::kPermissionDenied,
                  users.empty() ? "the client's certificate names no user: use one that popdist-agent "
                                  "init-tls --user has made"
                                : "the client's certificate names several users");
  POP_RETURN_IF_ERROR(checkUserName(users.front()));
  return users.front();
}

// "12:0af3…:alice:h0+h1"; an address of a host may have colons.
Result<JobName> jobFromUris(std::span<const std::string> uris) {
  const Status odd(Code::kPermissionDenied,
                   "the client's certificate is for jobs, and does not name exactly one");
  const std::vector<std::string> jobs = named(uris, kJobUriPrefix);
  if (jobs.size() != 1 || !named(uris, kUserUriPrefix).empty()) return odd;
  std::string_view rest = jobs.front();
  std::array<std::string, 3> parts;  // number, id, user
  for (std::string& part : parts) {
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return odd;
    part = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
  }
  JobName job{0, parts[1], parts[2], split(rest, '+')};
  const Result<std::int64_t> number = parseInteger(parts[0]);
  const bool hosts_ok = std::all_of(job.hosts.begin(), job.hosts.end(),
                                    [](const std::string& host) { return checkHostName(host).ok(); });
  if (!number.ok() || number.value() < 1 || !isJobId(job.id) || !checkUserName(job.user).ok() || !hosts_ok)
    return odd;
  job.number = number.value();
  return job;
}

}  // namespace pop::tls
