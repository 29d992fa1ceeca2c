// SPDX-License-Identifier: Apache-2.0
#include "common/tls/tls_context.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/tls/peer_user.h"
#include "common/tls/tls_objects.h"
#include "common/tls/tls_session.h"

namespace pop::tls {
namespace {

using namespace openssl;

// In the format of the offer: a length before each name.
constexpr std::string_view kProtocol = "\x0fpopdist-agent/1";
static_assert(kProtocol.substr(1) == kProtocolName && kProtocol.front() == kProtocolName.size());

// Prefers SHA-256 to SHA-384: a handshake derives keys with it ten times.
constexpr const char* kCipherSuites =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* kOlderCipherSuites = "ECDHE+AESGCM:ECDHE+CHACHA20";  // of TLS 1.2
constexpr const char* kGroups = "X25519:P-256:P-384";

// A job's certificate names its hosts. Any client can make this process buffer that much.
constexpr long kMaxCertificateBytes = 48 << 10;

int chooseProtocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                   const unsigned char* offered, unsigned int offered_bytes, void*) {
  const std::string_view list(reinterpret_cast<const char*>(offered), offered_bytes);
  for (std::size_t at = 0; at < list.size(); at += 1U + static_cast<unsigned char>(list[at])) {
    if (!list.substr(at).starts_with(kProtocol)) continue;
    *chosen = offered + at + 1;
    *chosen_bytes = offered[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

// True for the two certificates that are not for clients, but for jobs: a job's, and the issuer's that has
// signed it. No other certificate is accepted of that issuer, and no job's of another.
bool isOfJob(X509_STORE_CTX* verification) {
  const STACK_OF(X509)* const chain = X509_STORE_CTX_get0_chain(verification);
  return X509_STORE_CTX_get_error_depth(verification) < 2 && sk_X509_num(chain) > 1 &&
         isForJobs(sk_X509_value(chain, 0)) && isForJobs(sk_X509_value(chain, 1));
}

// A host's certificate is also for clients, since hosts join a cluster; here the clients are users and jobs.
// "Wrong purpose", as OpenSSL says it of certificates that are for servers only.
int checkClient(int is_good, X509_STORE_CTX* verification) {
  if (is_good != 1) {
    if (X509_STORE_CTX_get_error(verification) != X509_V_ERR_INVALID_PURPOSE || !isOfJob(verification))
      return 0;
    X509_STORE_CTX_set_error(verification, X509_V_OK);
    return 1;
  }
  if (X509_STORE_CTX_get_error_depth(verification) != 0) return 1;
  if (!isHosts(X509_STORE_CTX_get_current_cert(verification))) return 1;
  X509_STORE_CTX_set_error(verification, X509_V_ERR_INVALID_PURPOSE);
  return 0;
}

bool present(SSL_CTX* context, const TlsObjects& own) {
  if (own.chain.empty() || !own.key || SSL_CTX_use_certificate(context, own.chain.front().get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, own.key.get()) != 1)
    return false;
  return std::all_of(own.chain.begin() + 1, own.chain.end(),
                     [&](const auto& each) { return SSL_CTX_add1_chain_cert(context, each.get()) == 1; });
}

// No tickets and no sessions: every handshake is a full one (docs/adr/0076).
bool setUp(SSL_CTX* context, TlsRole role) {
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Otherwise OpenSSL would verify our own certificate for each connection, in search of others to send with
  // it, and would keep buffers of 33 KiB a connection for a future record.
  SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_max_cert_list(context, kMaxCertificateBytes);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     role == TlsRole::kServer ? checkClient : nullptr);
  if (role == TlsRole::kServer) SSL_CTX_set_alpn_select_cb(context, chooseProtocol, nullptr);
  const auto* const protocol = reinterpret_cast<const unsigned char*>(kProtocol.data());
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_ciphersuites(context, kCipherSuites) == 1 &&
         SSL_CTX_set_cipher_list(context, kOlderCipherSuites) == 1 &&
         SSL_CTX_set1_groups_list(context, kGroups) == 1 && SSL_CTX_set_num_tickets(context, 0) == 1 &&
         SSL_CTX_set_alpn_protos(context, protocol, static_cast<unsigned int>(kProtocol.size())) == 0;
}

// Only alternative names count: the subject is for people.
void expectHost(SSL* connection, const std::string& host) {
  POP_CHECK(!host.empty());  // for OpenSSL, no name is any name
  X509_VERIFY_PARAM* const expected = SSL_get0_param(connection);
  X509_VERIFY_PARAM_set_hostflags(expected,
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1) return;
  ERR_clear_error();
  POP_CHECK(X509_VERIFY_PARAM_set1_host(expected, host.data(), host.size()) == 1);
}

}  // namespace

struct TlsContext::Impl {
  Context context;
};

namespace {

std::unique_ptr<TlsCipher::Session> newSession(SSL_CTX* context) {
  auto made = std::make_unique<TlsCipher::Session>();
  made->connection.reset(SSL_new(context));
  made->arrived = BIO_new(BIO_s_mem());
  made->outgoing = BIO_new(BIO_s_mem());
  POP_CHECK(made->connection && made->arrived != nullptr && made->outgoing != nullptr);
  SSL_set_bio(made->connection.get(), made->arrived, made->outgoing);
  return made;
}

}  // namespace

TlsContext::TlsContext(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}

TlsContext::~TlsContext() = default;

Result<std::shared_ptr<const TlsContext>> TlsContext::make(const TlsFiles& files, TlsRole role) {
  Context context(SSL_CTX_new(role == TlsRole::kServer ? TLS_server_method() : TLS_client_method()));
  if (!context || !setUp(context.get(), role)) return failed("setting up TLS");
  if (!trust(SSL_CTX_get_cert_store(context.get()), files.objects->authorities))
    return failed("reading the authority's certificate");
  if (!present(context.get(), *files.objects)) return failed("reading our certificate and its key");
  return std::shared_ptr<const TlsContext>(new TlsContext(std::make_unique<Impl>(std::move(context))));
}

std::unique_ptr<TlsCipher> TlsContext::accepted() const {
  std::unique_ptr<TlsCipher::Session> session = newSession(impl_->context.get());
  session->is_server = true;
  SSL_set_accept_state(session->connection.get());
  return std::make_unique<TlsCipher>(std::move(session));
}

std::unique_ptr<TlsCipher> TlsContext::connectedTo(const std::string& host) const {
  std::unique_ptr<TlsCipher::Session> session = newSession(impl_->context.get());
  SSL_set_connect_state(session->connection.get());
  expectHost(session->connection.get(), host);
  return std::make_unique<TlsCipher>(std::move(session));
}

}  // namespace pop::tls
