// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/exec/farewell.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace popdist::exec {
namespace {

constexpr std::uint32_t kFarewell = UINT32_MAX;  // no operation with its root has this number
constexpr std::size_t kMostTextBytes = transport::kMostFarewellBytes - transport::kHeadBytes;

}  // namespace

// Who has heard it from another passes it on as it is.
std::vector<std::byte> encodeFarewell(int rank, const Failure& failure) {
  std::string text = failure.heard ? "" : "rank " + std::to_string(rank) + " has given up: ";
  text = (text + failure.status.message()).substr(0, kMostTextBytes);
  const Header header{.count = static_cast<std::uint64_t>(failure.peer_rank < 0 ? rank : failure.peer_rank),
                      .message_bytes = text.size(),
                      .operation = kFarewell,
                      .type = static_cast<std::uint32_t>(failure.status.code()),
                      .op = static_cast<std::uint32_t>(failure.peer_instance + 1)};
  std::vector<std::byte> message(transport::kHeadBytes + text.size());
  std::memcpy(message.data(), &header, sizeof(header));
  std::memcpy(message.data() + transport::kHeadBytes, text.data(), text.size());
  return message;
}

bool isFarewell(const Header& header) {
  return header.operation == kFarewell && header.message_bytes <= kMostTextBytes;
}

Failure failureOf(const Header& header, std::string text) {
  const bool known = header.type > 0 && header.type <= static_cast<std::uint32_t>(pop::Code::kDataLoss);
  return {.status = {known ? static_cast<pop::Code>(header.type) : pop::Code::kUnknown, std::move(text)},
          .peer_instance = header.op <= INT32_MAX ? static_cast<int>(header.op) - 1 : -1,
          .peer_rank = static_cast<int>(std::min<std::uint64_t>(header.count, INT32_MAX)),
          .heard = true};
}

}  // namespace popdist::exec
