// SPDX-License-Identifier: Apache-2.0
// The headers of the connections that a popdistd passes on to one leader.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "popdistd/net/client_header.h"

namespace pop::popdistd {

/// One thread at a time.
class HeaderWriter {
 public:
  /// `key`: of the leader. `passer`: a random number that no other writer has.
  HeaderWriter(std::string key, std::uint64_t passer) : key_(std::move(key)), passer_(passer) {}

  /// The bytes of the next connection, whose client is `client`.
  std::string next(const End& client) {
    return encodeClientHeader({.client = client, .passer = passer_, .number = next_number_++}, key_);
  }

 private:
  const std::string key_;
  const std::uint64_t passer_;
  std::uint64_t next_number_ = 0;
};

}  // namespace pop::popdistd
