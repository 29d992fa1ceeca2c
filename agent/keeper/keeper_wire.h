// SPDX-License-Identifier: Apache-2.0
// The messages between the agent and its keeper: frames on a socket pair. Numbers are decimal text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/text.h"
#include "common/contract/frame.h"
#include "common/model/cpu_set.h"

namespace pop::keeper {

enum class Message : std::uint8_t {
  kSpawn = 1,  ///< → instance, directory, CPUs and memory nodes to bind to ("0-3"; empty: none), number of
               ///< descriptors, number of
               ///< arguments, these, "NAME=value"… that differ from kEnvironment's; descriptors: stdio, and
               ///< perhaps one to pass on
  kSignal = 2,          ///< → instance, signal; reaches its whole process group
  kRemoveAtEnd = 3,     ///< → path of a directory to remove when everything is over
  kEndLeftovers = 4,    ///< → no instance is left: end every process that they have left behind, and
                        ///< those numbered below 0
  kSpawned = 5,         ///< ← instance, pid
  kSpawnFailed = 6,     ///< ← instance, exit code (125 to 127), reason
  kReaped = 7,          ///< ← instance, status word of waitpid
  kLeftoversEnded = 8,  ///< ← 1: all of them; 0: some resist SIGKILL
  kEnvironment =
      9,  ///< → "NAME=value"…, over the keeper's own, for all processes that are asked for after it
  kStoppedByTerminal = 10,  ///< ← instance, which has used a terminal that is not its own
};

/// Field `index` as a number. Both ends are one program, so a malformed field is a bug in it.
inline int intField(const contract::Frame& frame, std::size_t index) {
  POP_CHECK(index < frame.fields.size());
  return static_cast<int>(parseInteger(frame.fields[index]).value());
}

/// Field `index` as a set, in the format of CpuSet::text.
inline model::CpuSet setField(const contract::Frame& frame, std::size_t index) {
  POP_CHECK(index < frame.fields.size());
  const std::string& text = frame.fields[index];
  return text.empty() ? model::CpuSet() : model::CpuSet::parse(text).value();
}

}  // namespace pop::keeper
