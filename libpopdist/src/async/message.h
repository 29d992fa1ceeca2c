// SPDX-License-Identifier: Apache-2.0
// What the members of an AsyncCommunicator tell each other: the calls that were issued, and that it is over.
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

/// A member ends the communicator, for all.
struct AbortMessage {
  pop::Status status;
  int peer_rank = -1;  ///< that is to blame; -1: none
};

struct Message {
  std::vector<Announcement> announcements;  ///< in the order in which they were issued
  std::optional<AbortMessage> abort_message;
};

/// No bytes when there is nothing to say. kResourceExhausted.
pop::Result<std::string> encode(const Message& message);

/// kDataLoss.
pop::Result<Message> decode(std::string_view bytes);

}  // namespace popdist::async
