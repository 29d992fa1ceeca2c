// SPDX-License-Identifier: Apache-2.0
// A client's TLS sessions as text, and back. Included by this folder only.
#pragma once

#include <string>

#include "common/tls/session_cache.h"
#include "common/tls/tls_session.h"

namespace pop::tls {

/// For a client's context, before its first connection.
void keepNewSessions(SSL_CTX* context);

/// A client's connection, before its handshake: it resumes what `session.kept` has for its service, if the
/// service agrees, and what the service offers is kept there.
void resume(TlsCipher::Session& session);

}  // namespace pop::tls
