// SPDX-License-Identifier: Apache-2.0
// A user's TLS sessions with agent services, kept between jobs in a file of the user's own, so that the next
// job resumes them: docs/adr/0025. Whatever is wrong with the file, it is as if there were none.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::tls {

/// Of one user's certificates with one service.
struct KeptSession {
  std::string certificates;  ///< a digest of ours and the authority's: a session is of no use with others
  std::string service;       ///< "host:port", as the user names it
  std::time_t from = 0;
  std::time_t until = 0;
  std::string secret;  ///< OpenSSL's session: as good as the user's key at that service

  bool holds(std::time_t now) const { return from <= now && now < until; }
  friend bool operator==(const KeptSession&, const KeptSession&) = default;
};

/// Those that a file keeps at most; those that end first go.
inline constexpr std::size_t kMostKeptSessions = 2048;

/// $XDG_CACHE_HOME/poprun/tls/sessions, else below ~/.cache; empty where there is neither.
std::string keptSessionsPath();

/// What hold at `now` of those in the file at `path`. None when it is damaged, or open to others, or its
/// directory is.
std::vector<KeptSession> readKeptSessions(const std::string& path, std::time_t now);

/// Puts the file at `path` in the place of what was there, whole or not at all, readable by its owner only,
/// as is its directory, which is made. What others have begun to write, and have not ended, is removed.
Status writeKeptSessions(const std::string& path, std::vector<KeptSession> sessions);

}  // namespace pop::tls
