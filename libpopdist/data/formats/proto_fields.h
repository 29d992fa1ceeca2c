// SPDX-License-Identifier: Apache-2.0
// The wire format of protocol buffers, as far as messages without groups need it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace popdist::io {

struct ProtoField {
  enum class Kind : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  std::uint32_t number = 0;
  Kind kind = Kind::kVarint;
  std::uint64_t varint = 0;          ///< for kVarint
  std::span<const std::byte> bytes;  ///< for the others
};

/// Takes one field after the other off the start of a message.
class ProtoFields {
 public:
  explicit ProtoFields(std::span<const std::byte> message) : rest_(message) {}

  /// Nothing at the end, and where the message is malformed.
  std::optional<ProtoField> next();
  bool isMalformed() const { return is_malformed_; }

 private:
  std::optional<ProtoField> malformed() {
    is_malformed_ = true;
    return std::nullopt;
  }

  std::span<const std::byte> rest_;
  bool is_malformed_ = false;
};

/// Takes a number of up to 64 bits, 7 of them in each byte, off the start of `bytes`.
std::optional<std::uint64_t> takeVarint(std::span<const std::byte>& bytes);

}  // namespace popdist::io
