// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/exec/abort_message.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace popdist::exec {
namespace {

constexpr std::uint64_t kAbortMessage = 0xff;  // in place of an operation; no operation has this number
constexpr std::size_t kMaxTextBytes = transport::kMaxAbortMessageBytes - transport::kHeadBytes;

}  // namespace

// A failure heard from another rank is passed on unchanged: its text names the first rank already.
std::vector<std::byte> encodeAbortMessage(int rank, const Failure& failure) {
  std::string text = failure.heard ? "" : "rank " + std::to_string(rank) + " aborted the call: ";
  text = (text + failure.status.message()).substr(0, kMaxTextBytes);
  const Header header{.count = static_cast<std::uint64_t>(failure.peer_rank < 0 ? rank : failure.peer_rank),
                      .message_bytes = text.size(),
                      .key = kAbortMessage | static_cast<std::uint64_t>(failure.status.code()) << 8 |
                             static_cast<std::uint64_t>(failure.peer_instance + 1) << 32};
  std::vector<std::byte> message(transport::kHeadBytes + text.size());
  std::memcpy(message.data(), &header, sizeof(header));
  std::memcpy(message.data() + transport::kHeadBytes, text.data(), text.size());
  return message;
}

bool isAbortMessage(const Header& header) {
  return (header.key & 0xff) == kAbortMessage && header.message_bytes <= kMaxTextBytes;
}

Failure failureOf(const Header& header, std::string text) {
  const std::uint64_t code = header.key >> 8 & 0xff;
  const std::uint64_t after_instance = header.key >> 32;
  const bool known = code > 0 && code <= static_cast<std::uint64_t>(pop::Code::kDataLoss);
  return {.status = {known ? static_cast<pop::Code>(code) : pop::Code::kUnknown, std::move(text)},
          .peer_instance = after_instance <= INT32_MAX ? static_cast<int>(after_instance) - 1 : -1,
          .peer_rank = static_cast<int>(std::min<std::uint64_t>(header.count, INT32_MAX)),
          .heard = true};
}

}  // namespace popdist::exec
