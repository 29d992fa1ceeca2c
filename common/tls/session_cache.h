// SPDX-License-Identifier: Apache-2.0
// The TLS sessions of one job: those it may resume, from the user's file, and those it makes.
#pragma once

#include <ctime>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "common/base/status.h"
#include "common/tls/kept_sessions.h"
#include "common/tls/tls_files.h"

namespace pop::tls {

class SessionCache {
 public:
  /// Reads the file at `path`; an empty path: no file is read or written. `now`: std::time, except in tests.
  SessionCache(std::string path, const TlsFiles& files, std::function<std::time_t()> now);

  /// Saves new sessions. If that fails, the next job makes a full handshake.
  ~SessionCache();
  SessionCache(const SessionCache&) = delete;
  SessionCache& operator=(const SessionCache&) = delete;

  /// Returns the secret of a session with `service`, "host:port"; empty if there is none.
  std::string find(const std::string& service) const;

  /// Stores a session that expires at `until`, replacing an older one. Ignored if it has expired already.
  void keep(const std::string& service, std::time_t until, std::string secret);

  /// Drops a session that could not be resumed.
  void forget(const std::string& service);

  std::time_t now() const { return now_(); }

 private:
  Status save() const;

  const std::string path_;
  const std::string certificates_;
  const std::function<std::time_t()> now_;
  std::map<std::string, KeptSession> sessions_;  ///< by service
  std::set<std::string> changed_;                ///< services of which we know better than the file
};

}  // namespace pop::tls
