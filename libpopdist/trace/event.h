// SPDX-License-Identifier: Apache-2.0
// A thread's activity from one moment to another.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace popdist::trace {

using Moment = std::chrono::steady_clock::time_point;

enum class Kind : std::uint8_t {
  kProgram,   ///< the user's spans
  kTraining,  ///< phases of a trainer
  kInput,     ///< an infeed's threads read ahead
};

struct Event {
  Kind kind = Kind::kProgram;
  std::string name;
  pid_t thread = 0;
  Moment begin;
  Moment end;
};

}  // namespace popdist::trace
