// SPDX-License-Identifier: Apache-2.0
// TLS sessions that clients of a service may resume, which saves both sides the exchange of certificates and
// signatures. Sessions stay in the service's memory: clients get only a number.
#pragma once

#include <ctime>
#include <functional>
#include <list>
#include <string>

#include "common/tls/openssl_handles.h"
#include "common/tls/tls_session.h"
#include "common/tls/validity.h"

namespace pop::tls {

/// A session can be resumed for kLifetimeSeconds, and only while all certificates of its chain are valid.
/// Clients without a valid session show their certificate.
class ServedSessions {
 public:
  static constexpr long kLifetimeSeconds = 8L * 60 * 60;  // a day's work
  static constexpr std::size_t kMost = 512;               // beyond this the oldest is dropped; a few KB each
  static constexpr std::size_t kMaxOfOneUser = 32;  // so that one user cannot evict all others' sessions

  /// `now`: std::time, except in tests.
  explicit ServedSessions(std::function<std::time_t()> now) : now_(std::move(now)) {}
  ServedSessions(const ServedSessions&) = delete;
  ServedSessions& operator=(const ServedSessions&) = delete;

  /// Sets up a server's context, before its first connection; this object must outlive the last one.
  void serve(SSL_CTX* context);

 private:
  struct Kept {
    std::string id;
    std::string user;
    openssl::TlsSession session;
    openssl::Validity validity;
  };

  static int onNew(SSL* connection, SSL_SESSION* session);
  static SSL_SESSION* onSought(SSL* connection, const unsigned char* id, int id_bytes, int* counts_reference);

  void keep(SSL* connection, const SSL_SESSION* session);
  SSL_SESSION* find(const std::string& id);
  void makeRoomFor(const std::string& user);

  const std::function<std::time_t()> now_;
  std::list<Kept> kept_;  ///< the oldest first
};

}  // namespace pop::tls
