// SPDX-License-Identifier: Apache-2.0
// What the agent and its keeper say to each other: frames on a socket pair. Numbers are decimal text.
#pragma once

#include <cstdint>

namespace pop::keeper {

enum class Message : std::uint8_t {
  kSpawn =
      1,  ///< → instance, directory, number of arguments, arguments…, "NAME=value"…; 3 descriptors: stdio
  kSignal = 2,       ///< → instance, signal; reaches its whole process group
  kRemoveAtEnd = 3,  ///< → path of a directory to remove when everything is over
  kSpawned = 4,      ///< ← instance, pid
  kSpawnFailed = 5,  ///< ← instance, exit code (126 or 127), reason
  kReaped = 6,       ///< ← instance, status word of waitpid
};

}  // namespace pop::keeper
