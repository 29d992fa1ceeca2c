// SPDX-License-Identifier: Apache-2.0
// The head of every message: it names the call that the message belongs to.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libpopdist/src/transport/transport.h"

namespace popdist::exec {

struct Header {
  std::uint64_t sequence = 0;
  std::uint64_t count = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t key = 0;          ///< CallKey::packed
  std::array<char, 16> tensor{};  ///< name of the tensor, truncated; may differ between ranks

  std::string_view tensorName() const {
    return {tensor.data(),
            static_cast<std::size_t>(std::find(tensor.begin(), tensor.end(), '\0') - tensor.begin())};
  }
  bool matches(const Header& other) const { return isOfCall(other) && message_bytes == other.message_bytes; }
  /// The same call, though not necessarily the same step of it.
  bool isOfCall(const Header& other) const {
    return sequence == other.sequence && count == other.count && key == other.key;
  }
};
static_assert(sizeof(Header) + transport::kSealBytes == transport::kHeadBytes);

}  // namespace popdist::exec
