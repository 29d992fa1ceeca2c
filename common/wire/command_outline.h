// SPDX-License-Identifier: Apache-2.0
// What the agent service has to know of a command that it passes on to a job's agent, read off its bytes:
// the message itself, built in memory, can take thirty times as much.
#pragma once

#include <string_view>

#include "common/base/status.h"

namespace pop::wire {

struct CommandOutline {
  bool is_run = false;
  int instances = 0;  ///< of Run's slice
};

/// kDataLoss: no command as v1::Command would be read. What is deeper inside is not looked at.
Result<CommandOutline> outlineOf(std::string_view command);

}  // namespace pop::wire
