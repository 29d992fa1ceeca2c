// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/connections.h"

#include <sys/stat.h>

#include <algorithm>

#include "common/base/text.h"

namespace pop::popdistd {
namespace {

// Looking at all descriptors takes a millisecond or more, and whoever is refused may come at once again.
constexpr std::chrono::milliseconds kLooksApart{100};

constexpr std::size_t kMostForOthers = 1024;

Status tooMany(int count, const std::string& of) {
  return {Code::kResourceExhausted, "there are " + counted(count, "connection") + ' ' + of};
}

}  // namespace

ConnectionLimits limitsWithin(std::size_t most_descriptors) {
  ConnectionLimits limits;
  const std::size_t left = most_descriptors - std::min(most_descriptors / 2, kMostForOthers);
  limits.most = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(limits.most), left));
  limits.most_unknown = std::min(limits.most_unknown, limits.most / 2);
  limits.most_unknown_of_one = std::min(limits.most_unknown_of_one, limits.most_unknown / 2);
  return limits;
}

Status Connections::admit(int socket, const std::string& address, const std::string& port,
                          Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  struct stat status {};
  if (::fstat(socket, &status) != 0) return errnoStatus("looking at a connection", errno);
  if (!room(address).ok() && now - looked_ >= kLooksApart) forgetClosed(now);
  POP_RETURN_IF_ERROR(room(address));
  const auto [at, is_new] = connections_[address].try_emplace(port);
  // One of the same port has ended.
  if (is_new) ++count_;
  if (is_new || at->second.known) {
    ++unknown_;
    ++unknown_of_[address];
  }
  at->second = {.socket = socket, .inode = status.st_ino, .known = false};
  return {};
}

void Connections::isKnown(const std::string& address, const std::string& port) {
  const std::scoped_lock lock(mutex_);
  const auto ports = connections_.find(address);
  if (ports == connections_.end()) return;
  const auto found = ports->second.find(port);
  if (found == ports->second.end() || std::exchange(found->second.known, true)) return;
  --unknown_;
  if (const auto of = unknown_of_.find(address); --of->second == 0) unknown_of_.erase(of);
}

Status Connections::room(const std::string& address) const {
  if (count_ >= limits_.most) return tooMany(count_, "in all");
  const auto found = unknown_of_.find(address);
  const int of_one = found == unknown_of_.end() ? 0 : found->second;
  if (of_one < limits_.always_of_one) return {};
  if (of_one >= limits_.most_unknown_of_one)
    return tooMany(of_one, "from " + address + " of whom nothing says who they are");
  if (unknown_ >= limits_.most_unknown) return tooMany(unknown_, "of whom nothing says who they are");
  return {};
}

void Connections::forgetClosed(Clock::time_point now) {
  looked_ = now;
  count_ = 0;
  unknown_ = 0;
  unknown_of_.clear();
  for (auto& [address, ports] : connections_) {
    std::erase_if(ports, [](const auto& each) {
      struct stat status {};
      return ::fstat(each.second.socket, &status) != 0 || status.st_ino != each.second.inode;
    });
    const auto unknown = static_cast<int>(
        std::count_if(ports.begin(), ports.end(), [](const auto& each) { return !each.second.known; }));
    count_ += static_cast<int>(ports.size());
    unknown_ += unknown;
    if (unknown > 0) unknown_of_[address] = unknown;
  }
  std::erase_if(connections_, [](const auto& each) { return each.second.empty(); });
}

}  // namespace pop::popdistd
