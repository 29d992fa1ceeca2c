// SPDX-License-Identifier: Apache-2.0
// Converts a client's TLS sessions to text and back. Included by this folder only.
#pragma once

#include <string>

#include "common/tls/session_cache.h"
#include "common/tls/tls_session.h"

namespace pop::tls {

/// Sets up a client's context, before its first connection.
void keepNewSessions(SSL_CTX* context);

/// Sets up a client's connection, before its handshake: it resumes the session that `session.kept` has for
/// its service, if the service agrees, and stores new sessions from the service there.
void resume(TlsCipher::Session& session);

}  // namespace pop::tls
