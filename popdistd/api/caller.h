// SPDX-License-Identifier: Apache-2.0
// The caller of a request, and how a transport identifies it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "proto/popdist/v1/access.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

/// gRPC's, beside those of Code: nothing says who asks, or nothing that counts.
inline constexpr Code kUnauthenticated = static_cast<Code>(16);

/// The caller, as identified when the call arrived.
struct Caller {
  std::string user;  ///< of the certificate, the token, …, or popdistd's own where there is no TLS
  std::string peer;  ///< address, for the log
  v1::Role role = v1::ROLE_NONE;
  v1::KnownBy known_by = v1::KNOWN_BY_NOTHING;
  std::string token;        ///< its id; empty: known by something else
  std::string session;      ///< of a browser's session: the digest of its secret
  std::string certificate;  ///< if it is known by that: Peer's
  std::string key;          ///< of a key of V-IPU's clients: its digest
};

/// The other end of a connection, as its transport describes it.
struct Peer {
  bool has_tls = false;            ///< the connection is encrypted; a certificate may be missing
  std::vector<std::string> uris;   ///< alternative names of its certificate
  std::vector<std::string> names;  ///< likewise: DNS names and addresses
  std::string certificate;         ///< in PEM form, and those that it came with
  std::string address;             ///< numeric, without the port
  std::string port;
  std::string unix_user;  ///< by the local socket; empty: another connection
};

/// The credentials that one request carries; empty: none.
struct Credentials {
  std::string authorization;  ///< "Bearer pop_…"
  std::string api_user_id;    ///< V-IPU's, with the next
  std::string api_access_key;
  std::string session;  ///< a browser's
};

/// Identifies the caller. From any thread. kUnauthenticated: no known caller. kPermissionDenied: no user.
/// kResourceExhausted: too many wrong guesses come from there.
using Identify = std::function<Result<Caller>(const Peer& peer, const Credentials& credentials)>;

/// Ok, or why what a connection has shown at its beginning does not count any more. From any thread.
using IsStillGood = std::function<Status(const Peer& peer)>;

}  // namespace pop::popdistd
