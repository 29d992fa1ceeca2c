// SPDX-License-Identifier: Apache-2.0
// Messages between the members of an AsyncCommunicator: the calls that were issued, and the end of the
// communicator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace popdist::async {

/// A call that a member has issued.
struct Announcement {
  std::string name;
  std::uint64_t key = 0;    ///< CallKey::packed
  std::uint64_t count = 0;  ///< group::agreedCount

  friend bool operator==(const Announcement&, const Announcement&) = default;
};

/// Ends the communicator for all members.
struct AbortMessage {
  pop::Status status;
  int peer_rank = -1;  ///< rank that caused it; -1: none
};

struct Message {
  std::vector<Announcement> announcements;  ///< in the order in which they were issued
  std::optional<AbortMessage> abort_message;
};

/// Returns no bytes for an empty message. kResourceExhausted.
pop::Result<std::string> encode(const Message& message);

/// kDataLoss.
pop::Result<Message> decode(std::string_view bytes);

}  // namespace popdist::async
