// SPDX-License-Identifier: Apache-2.0
// Finds this host's certificate in a service's TLS directory.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/tls/tls_files.h"

namespace pop::tls {

/// Loads ca.pem and this host's pair host-$(uname -n) from `directory`, or else the pair host, for pairs that
/// were renamed. Every mistake in them is an error that names its file.
Result<TlsFiles> loadHostTls(const std::string& directory);

/// The same, for joining a cluster. kFailedPrecondition: the host's certificate is for serving only.
Result<TlsFiles> loadHostTlsForJoining(const std::string& directory);

}  // namespace pop::tls
