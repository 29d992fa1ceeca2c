// SPDX-License-Identifier: Apache-2.0
// The messages between an instance and its host's agent (docs/spec/instance_wire.md). Numbers are decimal
// text.
#pragma once

#include <cstdint>

namespace pop::contract {

inline constexpr int kInstanceProtocol = 6;

enum class InstanceMessage : std::uint8_t {
  kHello = 1,  ///< instance → agent: protocol, instance index, job id; the most bytes of a segment that it
               ///< can map (missing: any number), of which the first hello counts
  kWelcome = 2,  ///< agent → instance: bytes of the host's segment, whose memfd travels beside the frame; the
                 ///< job's key; this host's address; the cores that its instances may use together
  kPut = 3,            ///< instance → agent: key, value; visible to all from the next fence on
  kGet = 4,            ///< instance → agent: key
  kValue = 5,          ///< agent → instance: "1" and the value, or "0" when no fence has released that key
  kFence = 6,          ///< instance → agent: timeout in milliseconds; tag of the call (the same for all)
  kFenceReleased = 7,  ///< agent → instance: every instance has entered
  kAbort = 8,          ///< instance → agent: exit code, message; ends the whole job
  kAborted = 10,       ///< agent → instance: the message has been reported
  kLook = 11,  ///< instance → agent: something has come together in the fence slots of this host's segment
  kFenceLate = 12,  ///< instance → agent: the entry in its slot whose time is up
  kGetAll = 13,     ///< instance → agent: a prefix of keys
  kValues = 14,     ///< agent → instance: key, value, key, value, …, in order of the keys
  kError = 9,  ///< agent → instance: status code, instance at fault or -1, message; answers kHello, kFence or
               ///< kGetAll
};

}  // namespace pop::contract
