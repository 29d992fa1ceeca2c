// SPDX-License-Identifier: Apache-2.0
// The socket for users of this machine: the kernel says who each is (SO_PEERCRED), so they need no secret.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "popdistd/user_names.h"

namespace pop::popdistd {

/// All of it on the loop's thread.
class LocalSocket {
 public:
  /// Takes a connection and its user. An error is logged: a client only sees that its connection is closed.
  using Accepted = std::function<Status(sys::Fd connection, const std::string& user)>;

  /// Makes the file, which every user may connect to who can reach its directory, in place of one that has no
  /// listener any more. `loop` outlives the object.
  static Result<std::unique_ptr<LocalSocket>> listen(os::EpollLoop& loop, const std::string& path,
                                                     UserNames::Lookup lookup = sys::accountName);
  /// Removes the file.
  ~LocalSocket();
  LocalSocket(const LocalSocket&) = delete;
  LocalSocket& operator=(const LocalSocket&) = delete;

  /// From now on; once.
  void accept(Accepted accepted);

 private:
  LocalSocket(os::EpollLoop& loop, std::string path, sys::Fd listener, UserNames::Lookup lookup)
      : loop_(loop),
        path_(std::move(path)),
        listener_(std::move(listener)),
        names_(loop, std::move(lookup)) {}
  void watch();
  void acceptAll();
  void acceptLater(const Status& why);
  Status identify(sys::Fd connection);
  void warn(const std::string& user, const Status& why);

  os::EpollLoop& loop_;
  const std::string path_;
  const sys::Fd listener_;
  UserNames names_;
  Accepted accepted_;
  std::optional<TimerId> pause_;
  std::optional<Clock::time_point> warned_;
};

}  // namespace pop::popdistd
