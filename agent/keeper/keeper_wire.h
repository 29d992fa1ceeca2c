// SPDX-License-Identifier: Apache-2.0
// The messages between the agent and its keeper: frames on a socket pair between two ends of one program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/contract/frame.h"

namespace pop::keeper {

/// A message's numbers are named here before the semicolon, its texts after it.
enum class Kind : std::uint8_t {
  // To the keeper.
  kEnvironment,   ///< ; "NAME=value"…, over the keeper's own, for all processes that are asked for after it
  kSpawn,         ///< instance, descriptors, arguments; directory, CPUs and memory nodes to bind to ("0-3",
                  ///< empty: none), the arguments, "NAME=value"… that differ from kEnvironment's. With
                  ///< descriptors: stdio, and perhaps one to pass on
  kSignal,        ///< instance, signal, which reaches its whole process group
  kRemoveAtEnd,   ///< ; path of a directory to remove when everything is over
  kEndLeftovers,  ///< no instance is left: end every process that they have left behind, and those numbered
                  ///< below 0
  // To the agent.
  kSpawned,            ///< instance, pid
  kSpawnFailed,        ///< instance, exit code (125 to 127); reason
  kReaped,             ///< instance, status word of waitpid
  kStoppedByTerminal,  ///< instance, which has used a terminal that is not its own
  kLeftoversEnded,     ///< 1: all of them; 0: some resist SIGKILL
};

struct Numbers {
  int instance = 0;
  int value = 0;  ///< pid, signal, exit code, status word, or whether all have ended
  std::size_t descriptors = 0;
  std::size_t arguments = 0;
};
static_assert(std::is_trivially_copyable_v<Numbers>);

struct Message {
  Kind kind;
  Numbers numbers;
  std::vector<std::string> texts;
};

/// A frame whose first field is the numbers, as they are in memory. POP_CHECK: it is short enough for a
/// frame.
inline std::string encode(const Message& message) {
  contract::Frame frame{static_cast<std::uint8_t>(message.kind), {std::string(sizeof(Numbers), '\0')}};
  std::memcpy(frame.fields.front().data(), &message.numbers, sizeof(Numbers));
  frame.fields.insert(frame.fields.end(), message.texts.begin(), message.texts.end());
  return contract::encode(frame).value();
}

inline Message decode(contract::Frame frame) {
  POP_CHECK(!frame.fields.empty() && frame.fields.front().size() == sizeof(Numbers));
  Message message{static_cast<Kind>(frame.type), {}, {}};
  std::memcpy(&message.numbers, frame.fields.front().data(), sizeof(Numbers));
  frame.fields.erase(frame.fields.begin());
  message.texts = std::move(frame.fields);
  return message;
}

/// The next whole message that `reader` has, if there is one.
inline std::optional<Message> nextMessage(contract::FrameReader& reader) {
  std::optional<contract::Frame> frame = reader.next().value();
  return frame ? std::optional(decode(std::move(*frame))) : std::nullopt;
}

}  // namespace pop::keeper
