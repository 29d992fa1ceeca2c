// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/callers.h"

#include <algorithm>

#include "common/base/text.h"
#include "common/tls/certificates.h"

namespace pop::popdistd {
namespace {

bool namesUser(const Peer& peer) {
  return std::any_of(peer.uris.begin(), peer.uris.end(),
                     [](const std::string& uri) { return uri.starts_with(tls::kUserUriPrefix); });
}

}  // namespace

Result<Caller> callerOf(const Peer& peer, const std::string& own_user) {
  Caller caller{own_user, peer.port.empty() ? peer.address : peer.address + " port " + peer.port};
  if (!peer.has_tls) return caller;
  POP_ASSIGN_OR_RETURN(caller.user, tls::userFromUris(peer.uris));
  return caller;
}

Status checkMayJoin(const Peer& peer, const std::string& host) {
  if (!peer.has_tls) return {};
  if (namesUser(peer))
    return {Code::kPermissionDenied,
            "a user's certificate cannot join a host: use one that popdist-agent init-tls --host has made"};
  const bool is_there = std::any_of(peer.names.begin(), peer.names.end(), [&host](const std::string& name) {
    return lowerCase(name) == lowerCase(host);
  });
  if (is_there && !host.empty()) return {};
  return {Code::kPermissionDenied, "the certificate is not that of " + inQuotes(host) + ": it names " +
                                       (peer.names.empty() ? "no host" : join(peer.names, ", "))};
}

}  // namespace pop::popdistd
