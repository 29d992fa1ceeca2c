// SPDX-License-Identifier: Apache-2.0
// Why a host's stream to popdistd has ended, in words that say what to do.
#pragma once

#include <string>

#include "common/base/status.h"

namespace pop::joining {

struct StreamEnd {
  Code code = Code::kUnknown;  ///< gRPC's
  std::string text;            ///< gRPC's, or what popdistd has said
  bool was_answered = false;   ///< popdistd had sent something: the connection was good
  bool has_tls = false;
};

/// "connection refused: does popdistd run there, and listen at that port?"
std::string describe(const StreamEnd& end);

}  // namespace pop::joining
