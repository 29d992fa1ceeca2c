// SPDX-License-Identifier: Apache-2.0
// Until when the certificates of a side are valid.
#pragma once

#include <ctime>
#include <optional>

#include "common/tls/tls_files.h"

namespace pop::tls {

struct Expiry {
  std::optional<std::time_t> authority;    ///< the first of several; missing: there is none
  std::optional<std::time_t> certificate;  ///< ours, and those between it and an authority; likewise
};

Expiry expiryOf(const TlsFiles& files);

}  // namespace pop::tls
