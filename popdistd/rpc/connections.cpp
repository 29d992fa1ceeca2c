// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/connections.h"

#include <sys/stat.h>

#include <chrono>
#include <utility>

namespace pop::popdistd {
namespace {

// Looking at all descriptors takes a millisecond or more, and a refused client may come at once again.
constexpr std::chrono::milliseconds kLooksApart{100};

}  // namespace

Status Connections::admit(int socket, const End& end, const End& client, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  struct stat status {};
  if (::fstat(socket, &status) != 0) return errnoStatus("looking at a connection", errno);
  POP_RETURN_IF_ERROR(roomFor(client.address, now));
  const auto [at, is_new] = connections_.try_emplace(end);
  // One of the same end has ended.
  if (!is_new) shares_.giveBack(at->second.client.address, at->second.known);
  shares_.take(client.address);
  at->second = {.socket = socket, .inode = status.st_ino, .client = client, .known = false};
  return {};
}

void Connections::isKnown(const End& end) {
  const std::scoped_lock lock(mutex_);
  const auto found = connections_.find(end);
  if (found == connections_.end() || std::exchange(found->second.known, true)) return;
  shares_.becomesKnown(found->second.client.address);
}

End Connections::clientAt(const End& end) {
  const std::scoped_lock lock(mutex_);
  const auto found = connections_.find(end);
  return found == connections_.end() ? end : found->second.client;
}

Status Connections::roomFor(const std::string& address, Clock::time_point now) {
  if (!shares_.room(address).ok() && now - looked_ >= kLooksApart) {
    looked_ = now;
    forgetClosed();
  }
  return shares_.room(address);
}

void Connections::forgetClosed() {
  std::erase_if(connections_, [this](const auto& each) {
    struct stat status {};
    const Connection& connection = each.second;
    if (::fstat(connection.socket, &status) == 0 && status.st_ino == connection.inode) return false;
    shares_.giveBack(connection.client.address, connection.known);
    return true;
  });
}

}  // namespace pop::popdistd
