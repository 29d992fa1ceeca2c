// SPDX-License-Identifier: Apache-2.0
// The addresses of a cluster as people write them: "host:port", "[fe80::1]:3737".
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"

namespace popdist::cluster {

struct Endpoint {
  std::string host;  ///< a name or a numeric address, without brackets
  int port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// kInvalidArgument says what is expected. Names are compared without regard to case, so they are in lower
/// case.
pop::Result<Endpoint> parseEndpoint(std::string_view text);

}  // namespace popdist::cluster
