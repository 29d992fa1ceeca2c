// SPDX-License-Identifier: Apache-2.0
#include "common/wire/command_outline.h"

#include <cstdint>
#include <optional>

#include "common/wire/wire_fields.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::wire {
namespace {

using fields::CodedInputStream;
using fields::tagOfMessage;
using fields::WireFormatLite;
using popdist::v1::Command;
using popdist::v1::Slice;

// Reads the slice that follows.
std::optional<std::size_t> instancesIn(CodedInputStream& fields) {
  return fields::sumInside(fields, [&](std::uint32_t tag) -> std::optional<std::size_t> {
    if (!fields::skip(fields, tag)) return std::nullopt;
    return tag == tagOfMessage(Slice::kInstancesFieldNumber) ? 1 : 0;
  });
}

}  // namespace

// If there are several bodies, a protobuf reader takes the last one, but merges two of one kind. No sender
// writes that, and counting the merged result would require a full decode.
Result<CommandOutline> outlineOf(std::string_view command) {
  const Status malformed{Code::kDataLoss, "the launcher sent a malformed command"};
  CommandOutline outline;
  CodedInputStream fields(reinterpret_cast<const std::uint8_t*>(command.data()),
                          static_cast<int>(command.size()));
  int bodies = 0;
  while (const std::uint32_t tag = fields.ReadTag()) {
    const bool is_body = WireFormatLite::GetTagFieldNumber(tag) != Command::kNumberFieldNumber;
    if (is_body && ++bodies > 1) return malformed;
    if (tag != tagOfMessage(Command::kRunFieldNumber)) {
      if (!fields::skip(fields, tag)) return malformed;
      continue;
    }
    const std::optional<std::size_t> instances = instancesIn(fields);
    if (!instances) return malformed;
    outline = {true, static_cast<int>(*instances)};
  }
  if (!fields.ConsumedEntireMessage()) return malformed;
  return outline;
}

}  // namespace pop::wire
