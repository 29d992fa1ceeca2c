// SPDX-License-Identifier: Apache-2.0
// Starts jobs. poprun's options make the job: `popctl submit job` is poprun --controller, and poprun
// --controller starts this program under poprun's name.
#pragma once

#include <string>
#include <vector>

#include "popctl/command.h"
#include "popctl/settings.h"

namespace pop::popctl {

/// Submits what poprun's options in `command.rest` say, and prints the job's number, or shows the job. After
/// a lost connection it submits it again, which its request id makes safe.
int submitJob(const Command& command, const ServerSettings& server);

/// Whether this is the name of a poprun that has handed its command line over.
bool isPoprunsName(const std::string& program);

/// poprun with such a command line. Returns poprun's exit code.
int runAsPoprun(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace pop::popctl
