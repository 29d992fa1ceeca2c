// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/server_tls.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace pop::popdistd {

class ServerCertificates {
 public:
  explicit ServerCertificates(tls::TlsFiles files) : files_(std::move(files)) {}

  void replace(tls::TlsFiles files) {
    const std::scoped_lock lock(mutex_);
    files_ = std::move(files);
    taken_ = false;
  }

  // gRPC asks before each handshake.
  grpc_ssl_certificate_config_reload_status take(grpc_ssl_server_certificate_config** config) {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(taken_, true)) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair{files_.key_pem.c_str(), files_.certificate_pem.c_str()};
    *config = grpc_ssl_server_certificate_config_create(files_.authority_pem.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

 private:
  std::mutex mutex_;
  tls::TlsFiles files_;
  bool taken_ = false;
};

namespace {

std::string_view textOf(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

// Reflection, the list of popdistd's calls, is only for clients that show a certificate.
void checkReflection(void*, grpc_auth_context* context, const grpc_metadata* metadata, std::size_t count,
                     grpc_process_auth_metadata_done_cb done, void* of_done) {
  bool is_reflection = false;
  for (std::size_t i = 0; i < count; ++i)
    is_reflection = is_reflection || (grpc_slice_str_cmp(metadata[i].key, ":path") == 0 &&
                                      textOf(metadata[i].value).starts_with("/grpc.reflection."));
  const bool may = !is_reflection || grpc_auth_context_peer_is_authenticated(context) != 0;
  done(of_done, nullptr, 0, nullptr, 0, may ? GRPC_STATUS_OK : GRPC_STATUS_UNAUTHENTICATED,
       may ? nullptr : "reflection is for those who show a certificate");
}

// gRPC's C++ has no credentials that take new certificates when told to; its C has.
class ReloadedCredentials final : public grpc::ServerCredentials {
 public:
  explicit ReloadedCredentials(std::shared_ptr<ServerCertificates> certificates)
      : certificates_(std::move(certificates)) {
    credentials_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY, take, certificates_.get()));
    grpc_server_credentials_set_auth_metadata_processor(
        credentials_, {.process = checkReflection, .destroy = [](void*) {}, .state = nullptr});
  }
  ~ReloadedCredentials() override { grpc_server_credentials_release(credentials_); }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  static grpc_ssl_certificate_config_reload_status take(void* certificates,
                                                        grpc_ssl_server_certificate_config** config) {
    return static_cast<ServerCertificates*>(certificates)->take(config);
  }

  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  const std::shared_ptr<ServerCertificates> certificates_;
  grpc_server_credentials* credentials_ = nullptr;
};

}  // namespace

std::shared_ptr<ServerCertificates> makeServerCertificates(tls::TlsFiles files) {
  return std::make_shared<ServerCertificates>(std::move(files));
}

void replace(ServerCertificates& certificates, tls::TlsFiles files) {
  certificates.replace(std::move(files));
}

std::shared_ptr<grpc::ServerCredentials> serverCredentials(std::shared_ptr<ServerCertificates> certificates) {
  return std::make_shared<ReloadedCredentials>(std::move(certificates));
}

}  // namespace pop::popdistd
