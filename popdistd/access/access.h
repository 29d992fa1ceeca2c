// SPDX-License-Identifier: Apache-2.0
// Access to the daemon, put together: the guard in front of its interfaces, the audit log, users and tokens.
// On the loop's thread.
#pragma once

#include <functional>
#include <string>

#include "popdistd/access/access_service.h"
#include "popdistd/access/guarded_access.h"
#include "popdistd/access/guarded_api.h"
#include "popdistd/access/guarded_pods.h"

namespace pop::popdistd {

class Access {
 public:
  struct Parts {
    Loop& loop;
    Store& store;
    Commits& commits;
    Accounts& accounts;  ///< loaded
    NumberingApi& api;
    PodsApi& pods;
    VipuApi& vipu;
    WallClock clock = [] { return std::chrono::system_clock::now(); };
    RandomName random_name;
    std::string audit_file;                    ///< empty: the store alone has the audit log
    std::function<void()> roles_changed = {};  ///< of a user; null: no listener
  };

  explicit Access(const Parts& parts);
  ~Access();
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  /// Once, before the first call. An error: the audit log cannot be read.
  Status start();

  // The interfaces that transports carry.
  Api& api() { return api_; }
  PodsApi& pods() { return pods_; }
  VipuApi& vipu() { return vipu_; }
  AccessApi& access() { return access_; }

 private:
  void tick();
  void look();

  Loop& loop_;
  AuditLog audit_;
  AccessService service_;
  GuardedApi api_;
  GuardedPods pods_;
  GuardedVipu vipu_;
  GuardedAccess access_;
  TimerId tick_{};
  TimerId look_{};
};

}  // namespace pop::popdistd
