// SPDX-License-Identifier: Apache-2.0
// What stands in the head of every message: the call that it belongs to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libpopdist/src/transport/transport.h"

namespace popdist::exec {

struct Header {
  std::uint64_t sequence = 0;
  std::uint64_t count = 0;
  std::uint64_t message_bytes = 0;
  std::uint32_t operation = 0;
  std::uint32_t type = 0;
  std::uint32_t op = 0;
  std::uint32_t unused[3] = {};

  friend bool operator==(const Header&, const Header&) = default;
};
static_assert(sizeof(Header) + transport::kSealBytes == transport::kHeadBytes);

}  // namespace popdist::exec
