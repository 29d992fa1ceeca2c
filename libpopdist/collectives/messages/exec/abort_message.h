// SPDX-License-Identifier: Apache-2.0
// The abort message: a rank that fails sends it to all peers it is connected to, in place of the message they
// expect, so that they need not wait for their deadlines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libpopdist/collectives/messages/exec/executor.h"
#include "libpopdist/collectives/messages/exec/message_header.h"

namespace popdist::exec {

/// Encodes the abort message of rank `rank`, head included.
std::vector<std::byte> encodeAbortMessage(int rank, const Failure& failure);

bool isAbortMessage(const Header& header);

/// The failure of a rank that received an abort message. `text` is the message after its head, or the part of
/// it that arrived. The bytes come from a peer and may be anything.
Failure failureOf(const Header& header, std::string text);

}  // namespace popdist::exec
