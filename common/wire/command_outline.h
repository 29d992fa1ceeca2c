// SPDX-License-Identifier: Apache-2.0
// The agent service's view of a command that it forwards to a job's agent, taken from the encoded bytes: the
// decoded message can take thirty times as much memory.
#pragma once

#include <string_view>

#include "common/base/status.h"

namespace pop::wire {

struct CommandOutline {
  bool is_run = false;
  int instances = 0;  ///< of Run's slice
};

/// kDataLoss: not a valid v1::Command. Deeper levels are not checked.
Result<CommandOutline> outlineOf(std::string_view command);

}  // namespace pop::wire
