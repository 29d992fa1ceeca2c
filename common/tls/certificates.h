// SPDX-License-Identifier: Apache-2.0
// The certificates of the agent service, in PEM form: a certificate authority of its own, which signs those
// of hosts (servers) and of users (clients). Which is which, and whose, is in the certificate; nothing is
// asked of any directory.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace pop::tls {

/// A user's name is the subject alternative name "popdist:user:NAME" of its certificate. A host's certificate
/// has none, and is not accepted from a client.
inline constexpr std::string_view kUserUriPrefix = "popdist:user:";

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

/// Signs certificates of hosts and users.
Result<KeyPair> makeAuthority(int valid_days);

/// For a server that is reached by any of `names`: DNS names and IP addresses.
Result<KeyPair> makeHostCertificate(const KeyPair& authority, const std::vector<std::string>& names,
                                    int valid_days);

/// For a client who is `user`.
Result<KeyPair> makeUserCertificate(const KeyPair& authority, const std::string& user, int valid_days);

/// Why `user` cannot be a name in a certificate; ok: it can.
Status checkUserName(std::string_view user);

/// Why `name` is neither a DNS name nor an IP address; ok: it is one.
Status checkHostName(std::string_view name);

/// The user whose certificate has these URIs among its alternative names: exactly one must name a user.
Result<std::string> userFromUris(std::span<const std::string> uris);

}  // namespace pop::tls
