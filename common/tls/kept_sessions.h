// SPDX-License-Identifier: Apache-2.0
// A user's TLS sessions with agent services, kept in a file of the user between jobs, so that the next job
// resumes them: docs/adr/0025. A file with any fault is treated as missing.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::tls {

/// A session of one user's certificates with one service.
struct KeptSession {
  std::string
      certificates;  ///< digest of our certificate and the authority's: the session is valid only with them
  std::string service;  ///< "host:port", as the user names it
  std::time_t from = 0;
  std::time_t until = 0;
  std::string secret;  ///< OpenSSL's session: as good as the user's key at that service

  bool holds(std::time_t now) const { return from <= now && now < until; }
  friend bool operator==(const KeptSession&, const KeptSession&) = default;
};

/// The maximum number of sessions in a file; those that expire first are dropped.
inline constexpr std::size_t kMaxKeptSessions = 2048;

/// $XDG_CACHE_HOME/poprun/tls/sessions, or the same below ~/.cache; empty if neither variable is set.
std::string keptSessionsPath();

/// Returns the sessions in the file at `path` that are valid at `now`. None if the file is damaged, or if it
/// or its directory is open to others.
std::vector<KeptSession> readKeptSessions(const std::string& path, std::time_t now);

/// Writes the file at `path` atomically, readable by its owner only, and creates its directory likewise.
/// Removes stale temporary files of other processes.
Status writeKeptSessions(const std::string& path, std::vector<KeptSession> sessions);

}  // namespace pop::tls
