// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/proto_fields.h"

namespace popdist::io {

std::optional<std::uint64_t> takeVarint(std::span<const std::byte>& bytes) {
  constexpr std::size_t kMostBytes = 10;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < kMostBytes; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
    if (i == kMostBytes - 1 && byte > 1) return std::nullopt;  // beyond 64 bits
    value |= (byte & 0x7fU) << (7 * i);
    if (byte < 0x80) {
      bytes = bytes.subspan(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<ProtoField> ProtoFields::next() {
  if (rest_.empty() || is_malformed_) return std::nullopt;
  const auto tag = takeVarint(rest_);
  if (!tag || *tag >> 3U == 0 || *tag >> 3U > 0x1fffffffU) return malformed();
  ProtoField field{.number = static_cast<std::uint32_t>(*tag >> 3U)};
  std::uint64_t length = 0;
  switch (*tag & 7U) {
    case 0: {
      const auto value = takeVarint(rest_);
      if (!value) return malformed();
      field.varint = *value;
      return field;
    }
    case 1:
      field.kind = ProtoField::Kind::kFixed64;
      length = 8;
      break;
    case 2: {
      field.kind = ProtoField::Kind::kBytes;
      const auto said = takeVarint(rest_);
      if (!said) return malformed();
      length = *said;
      break;
    }
    case 5:
      field.kind = ProtoField::Kind::kFixed32;
      length = 4;
      break;
    default:
      return malformed();
  }
  if (length > rest_.size()) return malformed();
  field.bytes = rest_.first(length);
  rest_ = rest_.subspan(length);
  return field;
}

}  // namespace popdist::io
