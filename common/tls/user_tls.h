// SPDX-License-Identifier: Apache-2.0
// The certificate that a user shows to agent services, out of the directory that he was given.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/tls/tls_files.h"

namespace pop::tls {

/// ca.pem and the pair user-$USER in `directory`, else the only pair user-… that there is. Every mistake in
/// them is an error that names its file. `option`: which names the directory, for errors.
Result<TlsFiles> loadUserTls(const std::string& option, const std::string& directory);

}  // namespace pop::tls
