// SPDX-License-Identifier: Apache-2.0
#include "common/rpc/command_outline.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "proto/popdist/v1/agent.pb.h"

namespace pop::rpc {
namespace {

using popdist::v1::Command;
using popdist::v1::Slice;

// Of the wire format; groups are nothing that protobuf 3 writes.
enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

constexpr std::uint32_t tagOfMessage(int field) {
  return static_cast<std::uint32_t>(field) << 3 | kLength;
}

// The fields of a message, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  /// To the next one; false: there is none, or it is damaged.
  bool next() {
    if (rest_.empty()) return false;
    const std::optional<std::uint64_t> tag = takeVarint();
    is_good_ = tag && *tag <= std::numeric_limits<std::uint32_t>::max() && *tag >> 3 != 0 &&
               takeContent(tag_ = static_cast<std::uint32_t>(*tag));
    return is_good_;
  }

  bool isGood() const { return is_good_; }
  std::uint32_t tag() const { return tag_; }
  int number() const { return static_cast<int>(tag_ >> 3); }
  std::string_view content() const { return content_; }  ///< of one with a length

 private:
  std::optional<std::uint64_t> takeVarint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  bool takeContent(std::uint32_t tag) {
    std::optional<std::uint64_t> length;
    switch (tag & 7) {
      case kVarint:
        return takeVarint().has_value();
      case kFixed64:
        length = 8;
        break;
      case kFixed32:
        length = 4;
        break;
      case kLength:
        length = takeVarint();
        break;
      default:
        return false;
    }
    if (!length || *length > rest_.size()) return false;
    content_ = rest_.substr(0, *length);
    rest_.remove_prefix(*length);
    return true;
  }

  std::string_view rest_;
  std::string_view content_;
  std::uint32_t tag_ = 0;
  bool is_good_ = true;
};

std::optional<int> instancesOf(std::string_view slice) {
  int count = 0;
  Fields fields(slice);
  while (fields.next()) count += fields.tag() == tagOfMessage(Slice::kInstancesFieldNumber) ? 1 : 0;
  return fields.isGood() ? std::optional(count) : std::nullopt;
}

}  // namespace

// Of several bodies a reader takes the last, but merges two of one kind: nobody writes that, and counting
// what comes of it would be reading it.
Result<CommandOutline> outlineOf(std::string_view command) {
  const Status malformed{Code::kDataLoss, "what the launcher sends is no command"};
  CommandOutline outline;
  Fields fields(command);
  for (int bodies = 0; fields.next();) {
    if (fields.number() == Command::kNumberFieldNumber) continue;
    if (++bodies > 1) return malformed;
    if (fields.tag() != tagOfMessage(Command::kRunFieldNumber)) continue;
    const std::optional<int> instances = instancesOf(fields.content());
    if (!instances) return malformed;
    outline = {true, *instances};
  }
  if (!fields.isGood()) return malformed;
  return outline;
}

}  // namespace pop::rpc
