// SPDX-License-Identifier: Apache-2.0
// The TLS sessions that one job may resume, and those that it makes: what the user's file keeps for the
// certificates of this job.
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
  /// Reads the file at `path`; empty: there is none, and none is made. `now`: std::time, but in tests.
  SessionCache(std::string path, const TlsFiles& files, std::function<std::time_t()> now);

  /// Saves what is new. Where that fails, the next job shakes hands in full.
  ~SessionCache();
  SessionCache(const SessionCache&) = delete;
  SessionCache& operator=(const SessionCache&) = delete;

  /// The secret of a session with `service`, "host:port"; empty: there is none.
  std::string find(const std::string& service) const;

  /// From now until then, in place of what was there. Nothing when that is over already.
  void keep(const std::string& service, std::time_t until, std::string secret);

  /// It was of no use.
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
