// SPDX-License-Identifier: Apache-2.0
// The certificates of this host, in the directory of --tls: ca.pem, and host-NAME.pem or host.pem with its
// key, from popdist-agent init-tls.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/tls/tls_files.h"

namespace pop::agent {

/// Reads and checks them. Warnings are not in the log yet.
Result<tls::TlsFiles> loadHostTls(const std::string& directory);

/// The same, for joining a cluster. kFailedPrecondition: the host's certificate is for serving only.
Result<tls::TlsFiles> loadHostTlsForJoining(const std::string& directory);

}  // namespace pop::agent
