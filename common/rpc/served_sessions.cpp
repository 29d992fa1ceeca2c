// SPDX-License-Identifier: Apache-2.0
#include "common/rpc/served_sessions.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/check.h"

namespace pop::rpc {
namespace {

using namespace openssl;

// A session of another program's context is none of ours.
constexpr std::string_view kContextName = "popdist-agent";

std::string idOf(const SSL_SESSION* session) {
  unsigned int bytes = 0;
  const unsigned char* const id = SSL_SESSION_get_id(session, &bytes);
  return {reinterpret_cast<const char*>(id), bytes};
}

ServedSessions& sessionsOf(SSL_CTX* context) {
  return *static_cast<ServedSessions*>(SSL_CTX_get_app_data(context));
}

}  // namespace

// Without SSL_OP_NO_TICKET a ticket would be the session itself, encrypted: on each return its certificate
// would have to be decoded, and there would be no way to take it back.
void ServedSessions::serve(SSL_CTX* context) {
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_set_timeout(context, kLifetimeSeconds);
  SSL_CTX_sess_set_new_cb(context, onNew);
  SSL_CTX_sess_set_get_cb(context, onSought);
  SSL_CTX_sess_set_remove_cb(context, onBroken);
  POP_CHECK(SSL_CTX_set_session_id_context(context,
                                           reinterpret_cast<const unsigned char*>(kContextName.data()),
                                           static_cast<unsigned int>(kContextName.size())) == 1);
}

int ServedSessions::onNew(SSL* connection, SSL_SESSION* session) {
  return sessionsOf(SSL_get_SSL_CTX(connection)).keep(connection, session) ? 1 : 0;
}

SSL_SESSION* ServedSessions::onSought(SSL* connection, const unsigned char* id, int id_bytes,
                                      int* counts_reference) {
  *counts_reference = 1;
  return sessionsOf(SSL_get_SSL_CTX(connection))
      .find({reinterpret_cast<const char*>(id), static_cast<std::size_t>(id_bytes)});
}

void ServedSessions::onBroken(SSL_CTX* context, SSL_SESSION* session) {
  sessionsOf(context).forget(idOf(session));
}

// Whether the session, of which the caller has given us a share, is kept. One of TLS 1.2 is not: whoever
// learns its secret can read the connection that it comes from, and all that resume it.
bool ServedSessions::keep(SSL* connection, SSL_SESSION* session) {
  const std::optional<Validity> validity = validityOf(SSL_get0_verified_chain(connection));
  if (SSL_version(connection) != TLS1_3_VERSION || !validity) return false;
  kept_.push_back({idOf(session), TlsSession(session), *validity});
  kept_.back().validity.until = std::min<std::time_t>(validity->until, now_() + kLifetimeSeconds);
  if (kept_.size() > kMost) kept_.pop_front();
  return true;
}

SSL_SESSION* ServedSessions::find(const std::string& id) {
  const auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& each) { return each.id == id; });
  if (found == kept_.end()) return nullptr;
  if (found->validity.holds(now_())) return found->session.get();
  kept_.erase(found);
  return nullptr;
}

void ServedSessions::forget(const std::string& id) {
  kept_.remove_if([&](const Kept& each) { return each.id == id; });
}

}  // namespace pop::rpc
