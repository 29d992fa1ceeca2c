// SPDX-License-Identifier: Apache-2.0
// The certificates of the agent service, in PEM form: a certificate authority, which signs those of hosts
// (servers) and of users (clients). The certificate itself says which it is, and whose; no directory is
// asked.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace pop::tls {

/// A user's certificate has the subject alternative name "popdist:user:NAME". A host's certificate has no
/// such name, and an agent service does not accept it from a client; with it the host joins its cluster.
inline constexpr std::string_view kUserUriPrefix = "popdist:user:";

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

/// Signs certificates of hosts and users.
Result<KeyPair> makeAuthority(int valid_days);

/// An authority below `authority` that signs certificates of users only.
Result<KeyPair> makeIssuer(const KeyPair& authority, int valid_days);

/// For a server that clients reach by any of `names`: DNS names and IP addresses. The host is a client, too,
/// of the daemon that it joins.
Result<KeyPair> makeHostCertificate(const KeyPair& authority, const std::vector<std::string>& names,
                                    int valid_days);

/// For the client `user`.
Result<KeyPair> makeUserCertificate(const KeyPair& authority, const std::string& user, int valid_days);

/// Checks a user name: ok, or why it cannot be in a certificate.
Status checkUserName(std::string_view user);

/// Checks a host name: ok, or why it is neither a DNS name nor an IP address.
Status checkHostName(std::string_view name);

/// Returns the user named by a certificate's URIs (alternative names): exactly one must name a user.
Result<std::string> userFromUris(std::span<const std::string> uris);

}  // namespace pop::tls
