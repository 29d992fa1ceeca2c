// SPDX-License-Identifier: Apache-2.0
// Finds the user of a client's certificate. Included by this folder, and by who has an OpenSSL connection of
// its own.
#pragma once

#include <openssl/x509.h>

#include <string>

#include "common/base/status.h"

namespace pop::tls {

/// kPermissionDenied: there is no certificate (null), or it is a host's.
Result<std::string> userOf(X509* certificate);

/// Whether it is for a server, and names no user.
bool isHosts(X509* certificate);

}  // namespace pop::tls
