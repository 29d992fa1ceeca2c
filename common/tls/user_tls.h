// SPDX-License-Identifier: Apache-2.0
// Finds a user's certificate for agent services in the user's TLS directory.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/tls/tls_files.h"

namespace pop::tls {

/// Loads ca.pem and the pair user-$USER from `directory`, or else the only pair user-… in it. Every mistake
/// in them is an error that names its file. `option`: the option that names the directory, for errors.
Result<TlsFiles> loadUserTls(const std::string& option, const std::string& directory);

}  // namespace pop::tls
