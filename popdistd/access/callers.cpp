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

Status checkIsHost(const Peer& peer) {
  if (!peer.unix_user.empty())
    return {Code::kPermissionDenied, "a host joins by popdistd's address, not by its local socket"};
  if (!peer.has_tls) return {};
  if (namesUser(peer))
    return {Code::kPermissionDenied,
            "a user's certificate cannot join a host: use one that popdist-agent init-tls --host has made"};
  if (peer.names.empty())
    return {
        kUnauthenticated,
        "nothing says which host you are: show a certificate that popdist-agent init-tls --host has made"};
  return {};
}

Status checkMayJoin(const Peer& peer, const std::string& host) {
  POP_RETURN_IF_ERROR(checkIsHost(peer));
  if (!peer.has_tls) return {};
  const bool is_there = std::any_of(peer.names.begin(), peer.names.end(), [&host](const std::string& name) {
    return lowerCase(name) == lowerCase(host);
  });
  if (is_there && !host.empty()) return {};
  return {Code::kPermissionDenied,
          "the certificate is not that of " + inQuotes(host) + ": it names " + join(peer.names, ", ")};
}

}  // namespace pop::popdistd
