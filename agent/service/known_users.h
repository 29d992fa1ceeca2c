// SPDX-License-Identifier: Apache-2.0
// Users for whom programs are started often: what becoming them takes, kept for a minute. To look a user up
// starts two programs, which cost more than the start itself.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "agent/service/reload.h"
#include "agent/service/unix_user.h"
#include "common/base/loop.h"

namespace pop::agent {

struct KnownUsersAges {
  std::chrono::milliseconds renewed{30'000};  ///< from then on who asks causes a new look-up
  std::chrono::milliseconds dropped{60'000};
};

/// Lives on the loop's thread. Users are looked up on another one, since directories can be slow.
class KnownUsers {
 public:
  using Lookup = std::function<Result<Login>(const std::string& name)>;

  /// `loop` outlives it.
  KnownUsers(Loop& loop, Lookup lookup, KnownUsersAges ages = {});
  KnownUsers(const KnownUsers&) = delete;
  KnownUsers& operator=(const KnownUsers&) = delete;

  /// The login, if known. None: the caller that needs it looks it up; and it is looked up for those who ask
  /// later.
  std::optional<Login> find(const std::string& name);

  /// Users may have changed.
  void forget();

  /// Looks up no more.
  void stop() { look_up_.stop(); }

 private:
  struct Known {
    Login login;
    Clock::time_point since;
  };

  Reload::Task lookUpWanted(const std::stop_token& stop);
  void want(const std::string& name);

  Loop& loop_;
  const Lookup lookup_;
  const KnownUsersAges ages_;
  std::map<std::string, Known> known_;
  int changes_ = 0;  ///< a look-up that began before the last one does not count
  std::mutex mutex_;
  std::map<std::string, Clock::time_point> wanted_;  ///< and since when; under mutex_, as the next one
  int changes_when_wanted_ = 0;
  Reload look_up_;  ///< goes first
};

}  // namespace pop::agent
