// SPDX-License-Identifier: Apache-2.0
// popctl's report on a command: results on stdout, words on stderr, in V-IPU's form.
#pragma once

#include <string>

#include "common/base/status.h"
#include "popctl/command.h"

namespace google::protobuf {
class MessageLite;
}

namespace pop::popctl {

// Each returns popctl's exit code.

/// "cancel job (12): failed: …" on stderr.
int failed(const Command& command, const Status& status);

/// "popctl: …" on stderr: the command line, or a file it needs, is wrong.
int unusable(const Status& status);

/// "cancel job (12): success.", but with --quiet.
int succeeded(const Command& command);

int printText(const std::string& text);

/// On one line.
int printJson(const google::protobuf::MessageLite& message);

}  // namespace pop::popctl
