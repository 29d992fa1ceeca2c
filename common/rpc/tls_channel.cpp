// SPDX-License-Identifier: Apache-2.0
#include "common/rpc/tls_channel.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include "common/rpc/grpc_log.h"

namespace pop::rpc {

std::shared_ptr<grpc::ServerCredentials> serverCredentials(const TlsFiles& tls) {
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = tls.authority_pem;
  options.pem_key_cert_pairs.push_back({tls.key_pem, tls.certificate_pem});
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ServerCredentials> withoutTls() {
  return grpc::InsecureServerCredentials();
}

std::shared_ptr<grpc::Channel> channelTo(const std::string& host, int port,
                                         const std::optional<TlsFiles>& tls,
                                         std::chrono::milliseconds patience) {
  keepGrpcQuiet();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  // The first attempt to connect takes as long as the first back-off.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, static_cast<int>(patience.count()));
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, static_cast<int>(patience.count()));
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // agents are reached directly, whatever http_proxy says
  const bool is_v6 = host.find(':') != std::string::npos;
  const std::string target = (is_v6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
  if (!tls) return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
  const grpc::SslCredentialsOptions options{tls->authority_pem, tls->key_pem, tls->certificate_pem};
  return grpc::CreateCustomChannel(target, grpc::SslCredentials(options), arguments);
}

}  // namespace pop::rpc
