// SPDX-License-Identifier: Apache-2.0
// The head of every message: it names the call that the message belongs to. A note is a head alone, between
// messages: its sender waits in that call, of this group or another, for the rank that gets it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libpopdist/collectives/messages/transport/transport.h"

namespace popdist::exec {

struct Header {
  std::uint64_t sequence = 0;
  std::uint64_t count = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t key = 0;          ///< CallKey::packed
  std::array<char, 16> tensor{};  ///< name of the tensor, truncated; may differ between ranks

  /// In the key of a note.
  static constexpr std::uint64_t kWaits = 1U << 25;
  static constexpr std::uint64_t kNoLonger = 1U << 26;  ///< the wait of the last note is over

  /// `call` as a note of a group's rank that waits in it.
  static Header noteOf(int group, Header call) {
    call.sequence &= UINT32_MAX;
    call.message_bytes = static_cast<std::uint64_t>(group);
    call.key |= kWaits;
    return call;
  }
  /// This note for a group of which its sender has begun `calls` calls.
  Header forGroupAt(std::uint64_t calls) const {
    Header note = *this;
    note.sequence = (sequence & UINT32_MAX) | calls << 32;
    return note;
  }
  bool isNote() const { return (key & kWaits) != 0; }
  bool isOver() const { return (key & kNoLonger) != 0; }
  /// In a note: how much later its call is than the one after `calls` of its group.
  std::int64_t laterThan(std::uint64_t calls) const { return distance(sequence, calls); }
  /// In a note: its sender has not begun the call after `calls` of the group that it was sent to.
  bool isBefore(std::uint64_t calls) const { return distance(sequence >> 32, calls) <= 0; }
  int groupOfNote() const { return static_cast<int>(message_bytes); }
  /// The call of a note, which is near the one after `calls` of its group.
  Header callOfNote(std::uint64_t calls) const {
    Header call = *this;
    call.sequence = calls + static_cast<std::uint64_t>(laterThan(calls));
    call.message_bytes = 0;
    call.key &= ~(kWaits | kNoLonger);
    return call;
  }

  std::string_view tensorName() const {
    return {tensor.data(),
            static_cast<std::size_t>(std::find(tensor.begin(), tensor.end(), '\0') - tensor.begin())};
  }
  bool matches(const Header& other) const { return isOfCall(other) && message_bytes == other.message_bytes; }
  /// The same call, though not necessarily the same step of it.
  bool isOfCall(const Header& other) const {
    return sequence == other.sequence && count == other.count && key == other.key;
  }

 private:
  // Notes have the lower halves of numbers.
  static std::int64_t distance(std::uint64_t number, std::uint64_t from) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(number) - static_cast<std::uint32_t>(from));
  }
};
static_assert(sizeof(Header) + transport::kSealBytes == transport::kHeadBytes);

}  // namespace popdist::exec
