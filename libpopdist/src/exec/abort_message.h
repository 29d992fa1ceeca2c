// SPDX-License-Identifier: Apache-2.0
// What a rank that gives up says to those with whom it has connections, so that they need not wait for it
// until their deadlines: a message in place of the one that they expect.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libpopdist/src/exec/executor.h"
#include "libpopdist/src/exec/message_header.h"

namespace popdist::exec {

/// The message of rank `rank`, with its head.
std::vector<std::byte> encodeAbortMessage(int rank, const Failure& failure);

bool isAbortMessage(const Header& header);

/// What a rank that has received one fails with. `text`: the message after its head, or as much of it as has
/// come. Bytes of a peer: any.
Failure failureOf(const Header& header, std::string text);

}  // namespace popdist::exec
