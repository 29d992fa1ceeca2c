// SPDX-License-Identifier: Apache-2.0
// The caller of a gRPC call. Included by this folder only.
#pragma once

#include <grpcpp/server_context.h>

#include <memory>
#include <string>
#include <utility>

#include "popdistd/access/callers.h"
#include "popdistd/rpc/connections.h"

namespace pop::popdistd {

/// The callers of one server: all that is known of its connections. From any thread.
class CallersOf {
 public:
  /// `unix_user`: whose connections all are; empty: they come by the network, with TLS or without.
  CallersOf(Identify identify, bool has_tls, std::string unix_user = {})
      : identify_(std::move(identify)), has_tls_(has_tls), unix_user_(std::move(unix_user)) {}
  /// By the network. `connections` hears of those who are known.
  CallersOf(Identify identify, IsStillGood is_still_good, bool has_tls,
            std::shared_ptr<Connections> connections)
      : identify_(std::move(identify)),
        is_still_good_(std::move(is_still_good)),
        has_tls_(has_tls),
        connections_(std::move(connections)) {}

  /// The other end of the call's connection by the network, which may be a popdistd that passes it on.
  static End endOf(const grpc::CallbackServerContext& context);

  /// The client, also behind a popdistd that passes its bytes on.
  Peer peer(const grpc::CallbackServerContext& context) const;
  Result<Caller> caller(const grpc::CallbackServerContext& context) const;
  /// See IsStillGood.
  Status isStillGood(const Peer& peer) const { return is_still_good_ ? is_still_good_(peer) : Status(); }
  /// A host that is at `end`, or behind it, has shown that it is one.
  void isKnown(const End& end) const;

 private:
  End clientAt(const End& end) const;

  const Identify identify_;
  const IsStillGood is_still_good_;
  const bool has_tls_;
  const std::string unix_user_;
  const std::shared_ptr<Connections> connections_;
};

}  // namespace pop::popdistd
