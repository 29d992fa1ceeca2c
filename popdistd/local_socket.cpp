// SPDX-License-Identifier: Apache-2.0
#include "popdistd/local_socket.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/base/text.h"
#include "common/log/log.h"
#include "common/sys/account_name.h"
#include "common/sys/unix_socket.h"

namespace pop::popdistd {
namespace {

constexpr mode_t kForEverybody = 0666;
constexpr std::chrono::milliseconds kPause{100};
constexpr int kMostAtOnce = 64;  // then others have their turn
constexpr std::chrono::minutes kBetweenWarnings{1};

Result<std::string> userOf(int connection) {
  POP_ASSIGN_OR_RETURN(const uid_t id, sys::peerUser(connection));
  if (const std::optional<std::string> name = sys::accountName(id)) return *name;
  return Status(Code::kPermissionDenied, "user " + std::to_string(id) + " has no name on this machine");
}

}  // namespace

Result<std::unique_ptr<LocalSocket>> LocalSocket::listen(os::EpollLoop& loop, const std::string& path) {
  if (sys::connectPath(path).ok())
    return Status(Code::kAlreadyExists, "another program listens at " + path + " (--socket)");
  Result<sys::Fd> listener = sys::listenPath(path);
  if (!listener.ok())
    return Status(listener.code(),
                  "cannot listen at " + path + " (--socket): " + listener.status().message());
  std::unique_ptr<LocalSocket> socket(new LocalSocket(loop, path, std::move(*listener)));
  if (::chmod(path.c_str(), kForEverybody) != 0) return errnoStatus("opening " + path + " for users", errno);
  return socket;
}

LocalSocket::~LocalSocket() {
  if (accepted_) loop_.unwatch(listener_.get());
  if (pause_) loop_.cancel(*pause_);
  ::unlink(path_.c_str());
}

void LocalSocket::accept(Accepted accepted) {
  accepted_ = std::move(accepted);
  watch();
}

void LocalSocket::watch() {
  loop_.watchReadable(listener_.get(), [this] { acceptAll(); });
}

// There may be no descriptors; the connection that waits would wake the loop over and over.
void LocalSocket::acceptLater(const Status& why) {
  log::debug("the local socket: " + why.message());
  loop_.unwatch(listener_.get());
  pause_ = loop_.postAfter(kPause, [this] {
    pause_.reset();
    watch();
  });
}

void LocalSocket::acceptAll() {
  for (int i = 0; i < kMostAtOnce; ++i) {
    Result<sys::Fd> connection = sys::acceptConnection(listener_.get());
    if (!connection.ok()) return acceptLater(connection.status());
    if (!connection->valid()) return;
    const Result<std::string> user = userOf(connection->get());
    Status taken = user.status();
    if (taken.ok()) taken = accepted_(std::move(*connection), user.value());
    if (!taken.ok()) warn(user, taken);
  }
}

// Anybody on this machine can have it said.
void LocalSocket::warn(const Result<std::string>& user, const Status& why) {
  const std::string line = "refused a connection by the local socket" +
                           (user.ok() ? " of user " + inQuotes(user.value()) : "") + ": " + why.message();
  const Clock::time_point now = loop_.now();
  if (warned_ && now - *warned_ < kBetweenWarnings) return log::debug(line);
  warned_ = now;
  log::warning(line);
}

}  // namespace pop::popdistd
