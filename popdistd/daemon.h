// SPDX-License-Identifier: Apache-2.0
// The daemon around its core: gRPC, HTTP, certificates, signals and systemd.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/log/log.h"
#include "common/os/epoll_loop.h"
#include "common/os/place.h"
#include "common/tls/tls_files.h"
#include "popdistd/api/measures.h"
#include "popdistd/api/served.h"
#include "popdistd/net/header_check.h"
#include "popdistd/web/login.h"

namespace pop::popdistd {

/// For several popdistds with one store.
struct EtcdOptions {
  std::vector<std::string> addresses;  ///< "h0:2379"; none: this popdistd is alone
  std::string tls_directory;           ///< empty: no TLS
  std::string prefix = "/popdist";     ///< of its keys
  std::string peer_host;               ///< by which the others reach this one
};

struct DaemonOptions {
  os::Place listen{"127.0.0.1", 8090};
  std::optional<os::Place> http = os::Place{"127.0.0.1", 8091};  ///< missing: no HTTP
  std::string advertised_host;                                   ///< by which clients and jobs reach it
  std::string tls_directory;                                     ///< empty: no TLS
  std::string state_directory;
  std::string socket;         ///< path, for users of this machine; empty: none
  bool socket_named = false;  ///< by the user: then it has to be there
  bool insecure = false;
  bool dev = false;                                              ///< with certificates and a host of its own
  bool fair_share = false;                                       ///< users who have used little go first
  std::chrono::seconds backfill_age = std::chrono::minutes(10);  ///< see queue::Rules
  std::uint32_t keep_days = 30;                                  ///< jobs that have ended; 0: no limit
  std::uint32_t keep_jobs = 100000;                              ///< likewise
  int most_slots = 0;                                            ///< of a host; 0: as many as it says
  std::vector<std::string> admins;                               ///< besides the process's own user
  v1::Role usual_role = v1::ROLE_SUBMIT;                         ///< of users who are stored nowhere
  EtcdOptions etcd;
  log::Level log_level = log::Level::kInfo;
};

/// The interfaces that transports carry. They outlive runDaemon().
struct DaemonParts {
  Served served;
  std::function<CoreMeasures()> measures;                      ///< for /metrics
  Identify identify;                                           ///< outlives runDaemon(), too
  IsStillGood is_still_good = {};                              ///< likewise; null: always
  std::function<void(const std::string& pem)> authority = {};  ///< when it is read
  Sessions sessions = {};                                      ///< of browsers
  std::function<void(int port)> listening = {};                ///< clients and hosts can connect to this port
  std::function<void(const Status& why)> stopping = {};        ///< all calls are about to end
  /// Decides which headers of passed-on connections are believed.
  std::shared_ptr<HeaderCheck> headers = std::make_shared<HeaderCheck>();
};

/// The user of this process, by name or number.
std::string ownUser();

/// The certificates of --tls, if there is one.
Result<std::optional<tls::TlsFiles>> certificatesOf(const DaemonOptions& options);

/// Ok, or why the daemon must not listen there: without certificates every client that reaches it is its own
/// user.
Status checkListening(const std::string& option, const os::Place& place, const DaemonOptions& options,
                      uid_t self);

/// Serves on `loop`, which it runs, until SIGTERM or SIGINT; SIGHUP reloads the certificates. Returns within
/// two seconds after that. An error: it could not start.
Status runDaemon(os::EpollLoop& loop, const DaemonParts& parts, const DaemonOptions& options);

}  // namespace pop::popdistd
