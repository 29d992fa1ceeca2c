// SPDX-License-Identifier: Apache-2.0
// Whose a client's certificate is. Included by this folder only.
#pragma once

#include <openssl/x509.h>

#include <string>

#include "common/base/status.h"

namespace pop::tls {

/// kPermissionDenied: there is none (null), or it is nobody's (a host's).
Result<std::string> userOf(X509* certificate);

}  // namespace pop::tls
