// SPDX-License-Identifier: Apache-2.0
// Names of this machine's users, without blocking the loop: name services may ask other machines, and wait
// long for them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/os/epoll_loop.h"
#include "common/sys/account_name.h"

namespace pop::popdistd {

/// On the loop's thread.
class UserNames {
 public:
  /// As many as a user may have open by the local socket: a burst that all can be served waits, none is
  /// refused.
  static constexpr std::size_t kMostOfAUser = 256;
  static constexpr std::size_t kMostUsers = 256;

  using Lookup = std::function<std::optional<std::string>(uid_t user)>;
  /// Nothing: the user has no name.
  using Found = std::function<void(const std::optional<std::string>& name)>;

  /// `loop` outlives the object.
  explicit UserNames(os::EpollLoop& loop, Lookup lookup = sys::accountName);
  /// Callers that wait still are not called any more.
  ~UserNames();
  UserNames(const UserNames&) = delete;
  UserNames& operator=(const UserNames&) = delete;

  /// Calls `found` later. Each user is looked up on a thread of its own, which is never joined: a look-up
  /// cannot be interrupted. kResourceExhausted: too many wait for this user's name, or for names of others.
  Status find(uid_t user, Found found);

 private:
  struct State;
  void take();

  os::EpollLoop& loop_;
  const std::shared_ptr<State> state_;
  std::map<uid_t, std::vector<Found>> waiting_;
};

}  // namespace pop::popdistd
