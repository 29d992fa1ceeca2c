// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/server_tls.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <mutex>
#include <string>
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

// gRPC's C++ has no credentials that take new certificates when told to; its C has.
class ReloadedCredentials final : public grpc::ServerCredentials {
 public:
  explicit ReloadedCredentials(std::shared_ptr<ServerCertificates> certificates)
      : certificates_(std::move(certificates)) {
    credentials_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY, take, certificates_.get()));
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
