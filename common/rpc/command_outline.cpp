// SPDX-License-Identifier: Apache-2.0
#include "common/rpc/command_outline.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <optional>

#include "proto/popdist/v1/agent.pb.h"

namespace pop::rpc {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using popdist::v1::Command;
using popdist::v1::Slice;

constexpr std::uint32_t tagOfMessage(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}

// Groups are nothing that protobuf 3 writes.
bool skip(CodedInputStream& fields, std::uint32_t tag) {
  return WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_START_GROUP &&
         WireFormatLite::SkipField(&fields, tag);
}

// Of the slice that comes next.
std::optional<int> instancesIn(CodedInputStream& fields) {
  int length = 0;
  if (!fields.ReadVarintSizeAsInt(&length) || length > fields.BytesUntilLimit()) return std::nullopt;
  const CodedInputStream::Limit limit = fields.PushLimit(length);
  int count = 0;
  while (const std::uint32_t tag = fields.ReadTag()) {
    if (!skip(fields, tag)) return std::nullopt;
    count += tag == tagOfMessage(Slice::kInstancesFieldNumber) ? 1 : 0;
  }
  const bool whole = fields.ConsumedEntireMessage();
  fields.PopLimit(limit);
  return whole ? std::optional(count) : std::nullopt;
}

}  // namespace

// Of several bodies a reader takes the last, but merges two of one kind: nobody writes that, and counting
// what comes of it would be reading it.
Result<CommandOutline> outlineOf(std::string_view command) {
  const Status malformed{Code::kDataLoss, "what the launcher sends is no command"};
  CommandOutline outline;
  CodedInputStream fields(reinterpret_cast<const std::uint8_t*>(command.data()),
                          static_cast<int>(command.size()));
  int bodies = 0;
  while (const std::uint32_t tag = fields.ReadTag()) {
    const bool is_body = WireFormatLite::GetTagFieldNumber(tag) != Command::kNumberFieldNumber;
    if (is_body && ++bodies > 1) return malformed;
    if (tag != tagOfMessage(Command::kRunFieldNumber)) {
      if (!skip(fields, tag)) return malformed;
      continue;
    }
    const std::optional<int> instances = instancesIn(fields);
    if (!instances) return malformed;
    outline = {true, *instances};
  }
  if (!fields.ConsumedEntireMessage()) return malformed;
  return outline;
}

}  // namespace pop::rpc
