// SPDX-License-Identifier: Apache-2.0
// Tries whether a server lets a client in, by what it does: with TLS 1.3 a client's handshake ends well
// before its certificate is looked at.
#pragma once

#include <chrono>
#include <optional>

#include "common/sys/fd.h"
#include "common/tls/certificates.h"

namespace pop::tls {

/// True if the server of HTTP at the other end of a connected socket answers a client that shows this, or no
/// certificate. Blocks, each step for `step` at most. Whose certificate the server shows does not matter.
bool isAnswered(sys::Fd socket, const std::optional<KeyPair>& shows, std::chrono::milliseconds step);

}  // namespace pop::tls
