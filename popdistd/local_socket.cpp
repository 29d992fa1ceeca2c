// SPDX-License-Identifier: Apache-2.0
#include "popdistd/local_socket.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/base/text.h"
#include "common/log/log.h"
#include "common/sys/unix_socket.h"

namespace pop::popdistd {
namespace {

constexpr mode_t kForEverybody = 0666;
constexpr std::chrono::milliseconds kPause{100};
constexpr int kMostAtOnce = 64;  // then others have their turn
constexpr std::chrono::minutes kBetweenWarnings{1};

}  // namespace

Result<std::unique_ptr<LocalSocket>> LocalSocket::listen(os::EpollLoop& loop, const std::string& path,
                                                         UserNames::Lookup lookup) {
  if (sys::connectPath(path).ok())
    return Status(Code::kAlreadyExists, "another program listens at " + path + " (--socket)");
  Result<sys::Fd> listener = sys::listenPath(path);
  if (!listener.ok())
    return Status(listener.code(),
                  "cannot listen at " + path + " (--socket): " + listener.status().message());
  std::unique_ptr<LocalSocket> socket(new LocalSocket(loop, path, std::move(*listener), std::move(lookup)));
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
    if (const Status taken = identify(std::move(*connection)); !taken.ok()) warn("", taken);
  }
}

Status LocalSocket::identify(sys::Fd connection) {
  POP_ASSIGN_OR_RETURN(const uid_t id, sys::peerUser(connection.get()));
  return names_.find(id, [this, id, held = std::make_shared<sys::Fd>(std::move(connection))](
                             const std::optional<std::string>& name) {
    const Status taken =
        name ? accepted_(std::move(*held), *name)
             : Status(Code::kPermissionDenied, "user " + std::to_string(id) + " has no name on this machine");
    if (!taken.ok()) warn(name.value_or(""), taken);
  });
}

// Any user of this machine can cause these warnings.
void LocalSocket::warn(const std::string& user, const Status& why) {
  const std::string line = "refused a connection by the local socket" +
                           (user.empty() ? "" : " of user " + inQuotes(user)) + ": " + why.message();
  const Clock::time_point now = loop_.now();
  if (warned_ && now - *warned_ < kBetweenWarnings) return log::debug(line);
  warned_ = now;
  log::warning(line);
}

}  // namespace pop::popdistd
