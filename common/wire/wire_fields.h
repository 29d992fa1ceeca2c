// SPDX-License-Identifier: Apache-2.0
// Reads protobuf fields from encoded bytes, where decoding the message could take many times as much memory.
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pop::wire::fields {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr std::uint32_t tagOfMessage(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}

// protobuf 3 does not write groups.
inline bool skip(CodedInputStream& fields, std::uint32_t tag) {
  return WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_START_GROUP &&
         WireFormatLite::SkipField(&fields, tag);
}

/// Returns the sum of `count` over all fields; `count` also reads the field. Nothing if `count` returns
/// nothing, or if the bytes are malformed.
template <typename Count>
std::optional<std::size_t> sumOfFields(CodedInputStream& fields, const Count& count) {
  std::size_t sum = 0;
  while (const std::uint32_t tag = fields.ReadTag()) {
    const std::optional<std::size_t> counted = count(tag);
    if (!counted) return std::nullopt;
    sum += *counted;
  }
  return fields.ConsumedEntireMessage() ? std::optional(sum) : std::nullopt;
}

/// The same for the embedded message that follows, after its tag.
template <typename Count>
std::optional<std::size_t> sumInside(CodedInputStream& fields, const Count& count) {
  int length = 0;
  if (!fields.ReadVarintSizeAsInt(&length) || length > fields.BytesUntilLimit()) return std::nullopt;
  const CodedInputStream::Limit limit = fields.PushLimit(length);
  const std::optional<std::size_t> sum = sumOfFields(fields, count);
  fields.PopLimit(limit);
  return sum;
}

}  // namespace pop::wire::fields
