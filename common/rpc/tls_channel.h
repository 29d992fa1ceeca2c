// SPDX-License-Identifier: Apache-2.0
// Connections of the agent service: mutual TLS 1.2 or later, or nothing at all on this host.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "common/rpc/tls_files.h"

namespace grpc {
class Channel;
class ServerCredentials;
}  // namespace grpc

namespace pop::rpc {

/// Clients must show a certificate of the same authority.
std::shared_ptr<grpc::ServerCredentials> serverCredentials(const TlsFiles& tls);
std::shared_ptr<grpc::ServerCredentials> withoutTls();

/// To the service at `port` of `host`, a name or a numeric address, which its certificate has to name.
/// Connects with the first call, for at most `patience`.
std::shared_ptr<grpc::Channel> channelTo(const std::string& host, int port,
                                         const std::optional<TlsFiles>& tls,
                                         std::chrono::milliseconds patience);

}  // namespace pop::rpc
