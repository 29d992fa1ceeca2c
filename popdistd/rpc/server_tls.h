// SPDX-License-Identifier: Apache-2.0
// gRPC's server side of mutual TLS, with certificates that can be replaced while it serves. Included by this
// folder only.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "common/tls/tls_files.h"

namespace pop::popdistd {

/// The certificates of connections that begin from now on. From any thread.
class ServerCertificates;

std::shared_ptr<ServerCertificates> makeServerCertificates(tls::TlsFiles files);
void replace(ServerCertificates& certificates, tls::TlsFiles files);

/// Clients may show a certificate, which then has to be one of the same authority: others have a token.
std::shared_ptr<grpc::ServerCredentials> serverCredentials(std::shared_ptr<ServerCertificates> certificates);

}  // namespace pop::popdistd
