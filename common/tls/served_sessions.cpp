// SPDX-License-Identifier: Apache-2.0
#include "common/tls/served_sessions.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/check.h"
#include "common/tls/peer_user.h"

namespace pop::tls {
namespace {

using namespace openssl;

// Ignores sessions of another program's context.
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

// Without SSL_OP_NO_TICKET a ticket would be the encrypted session itself: its certificate would have to be
// decoded at each return, and the session could not be revoked.
void ServedSessions::serve(SSL_CTX* context) {
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_set_timeout(context, kLifetimeSeconds);
  SSL_CTX_sess_set_new_cb(context, onNew);
  SSL_CTX_sess_set_get_cb(context, onSought);
  POP_CHECK(SSL_CTX_set_session_id_context(context,
                                           reinterpret_cast<const unsigned char*>(kContextName.data()),
                                           static_cast<unsigned int>(kContextName.size())) == 1);
}

int ServedSessions::onNew(SSL* connection, SSL_SESSION* session) {
  sessionsOf(SSL_get_SSL_CTX(connection)).keep(connection, session);
  return 0;  // the session stays OpenSSL's
}

SSL_SESSION* ServedSessions::onSought(SSL* connection, const unsigned char* id, int id_bytes,
                                      int* counts_reference) {
  *counts_reference = 0;  // what we find is the caller's
  return sessionsOf(SSL_get_SSL_CTX(connection))
      .find({reinterpret_cast<const char*>(id), static_cast<std::size_t>(id_bytes)});
}

// Sessions of TLS 1.2 are not kept: with their secret one can read the original connection and all that
// resume it.
void ServedSessions::keep(SSL* connection, const SSL_SESSION* session) {
  std::optional<Validity> validity = validityOf(SSL_get0_verified_chain(connection));
  const Result<Client> client = clientOf(SSL_get0_peer_certificate(connection));
  if (SSL_version(connection) != TLS1_3_VERSION || !validity || !client.ok()) return;
  const std::string& user = client.value().user;
  TlsSession own(SSL_SESSION_dup(session));
  if (!own) return;
  makeRoomFor(user);
  validity->until = std::min<std::time_t>(validity->until, now_() + kLifetimeSeconds);
  kept_.push_back({idOf(session), user, std::move(own), *validity});
}

void ServedSessions::makeRoomFor(const std::string& user) {
  const auto is_of_user = [&](const Kept& each) { return each.user == user; };
  if (std::count_if(kept_.begin(), kept_.end(), is_of_user) >= std::ptrdiff_t{kMaxOfOneUser})
    kept_.erase(std::find_if(kept_.begin(), kept_.end(), is_of_user));
  if (kept_.size() >= kMost) kept_.pop_front();
}

// Returns a copy: OpenSSL marks the session of a broken connection as not resumable, and anybody who has seen
// the first message of a connection could replay it, followed by garbage, to break a connection.
SSL_SESSION* ServedSessions::find(const std::string& id) {
  const auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& each) { return each.id == id; });
  if (found == kept_.end()) return nullptr;
  if (found->validity.holds(now_())) return SSL_SESSION_dup(found->session.get());
  kept_.erase(found);
  return nullptr;
}

}  // namespace pop::tls
