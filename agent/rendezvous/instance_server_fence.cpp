// SPDX-License-Identifier: Apache-2.0
// The server's side of the fence: docs/spec/instance_wire.md.
#include <algorithm>
#include <utility>

#include "agent/rendezvous/instance_server.h"
#include "common/base/text.h"

namespace pop::agent {
namespace {

using contract::Frame;
using contract::InstanceMessage;

// An answer must not exceed a frame, however long the instance's tag is.
constexpr std::size_t kShownTagBytes = 200;

}  // namespace

bool InstanceServer::isInside(const Connection& connection) const {
  return connection.instance >= 0 && fence_->inside().contains(connection.instance);
}

void InstanceServer::enterFence(int fd, Connection& connection, const Frame& frame) {
  const Result<int> timeout_ms = contract::numberField(frame, 0);
  if (!timeout_ms.ok() || isInside(connection)) return close(fd);
  takeEntries();
  connection.entry = segment_.lastEntry(connection.instance);
  connection.in_slot = false;
  connection.gave_up = false;
  connection.fence_timer =
      loop_.postAfter(std::chrono::milliseconds(timeout_ms.value()), [this, fd] { fenceTimeIsUp(fd); });
  fence_->enter(connection.instance, frame.fields[1]);
  settleFence(connection.instance);
}

// True if an instance has entered through its slot since the last check.
bool InstanceServer::takeEntries() {
  bool any = false;
  for (auto& [fd, connection] : connections_) {
    if (connection.instance < 0 || !connection.untaken.empty()) continue;
    std::optional<HostSegment::Entry> entry = segment_.entryAfter(connection.entry, connection.instance);
    if (!entry || isInside(connection)) continue;
    connection.entry = entry->number;
    connection.in_slot = true;
    connection.gave_up = false;
    fence_->enter(connection.instance, std::move(entry->tag));
    any = true;
  }
  return any;
}

// Some instances have entered; `newest` may be the last of them.
void InstanceServer::settleFence(int newest) {
  if (const EndNotice* death = firstDeath())
    return failFence({Code::kUnavailable, death->instance, death->text});
  const std::map<int, std::string>& inside = fence_->inside();
  const auto found = inside.find(newest);
  const auto& [instance, tag] = found == inside.end() ? *inside.begin() : *found;
  for (const auto& [other, other_tag] : inside) {
    if (other_tag == tag) continue;
    return failFence({Code::kFailedPrecondition, instance,
                      "the instances are in different calls: instance " + std::to_string(other) + " in " +
                          inQuotes(other_tag.substr(0, kShownTagBytes)) + ", instance " +
                          std::to_string(instance) + " in " + inQuotes(tag.substr(0, kShownTagBytes))});
  }
  if (fence_->complete()) reachFence();
}

// Values for other hosts are sent over a link with a limit. The limit is enforced here, where only one call
// fails; at the other end the whole host would be lost.
void InstanceServer::reachFence() {
  PutValues values = fence_->collect();
  if (!allAreHere() && !fence_bytes_.add(values)) {
    return failFence({Code::kResourceExhausted, -1,
                      "the instances of this host have put more than 64 MiB for one fence (Context::put)"});
  }
  events_.fence_reached(std::move(values));
}

// The deadline of an entry in a slot has passed, unless it has been answered in the meantime.
void InstanceServer::fenceLate(int fd, const Connection& connection, const Frame& frame) {
  if (takeEntries()) settleFence(connection.instance);
  if (isInside(connection) && connection.in_slot && frame.fields[0] == std::to_string(connection.entry))
    fenceTimedOut(fd);
}

// The deadline of an entry by message has passed. Instances that have entered through their slots meanwhile
// are not missing.
void InstanceServer::fenceTimeIsUp(int fd) {
  const int instance = connections_.at(fd).instance;
  if (takeEntries()) settleFence(instance);
  if (fence_->inside().contains(instance)) fenceTimedOut(fd);
}

void InstanceServer::fenceTimedOut(int fd) {
  Connection& connection = connections_.at(fd);
  fence_->leave(connection.instance);
  connection.gave_up = true;
  answerFence(fd, connection, whoIsMissing(connection.instance));
  wakeWaiters();
}

// The error of a fence that `instance` leaves. If all instances are or have been inside, those that have left
// are missing.
InstanceServer::FenceError InstanceServer::whoIsMissing(int instance) const {
  std::vector<int> missing;
  std::vector<int> gone;
  for (const int each : local_instances_) {
    if (each == instance || fence_->inside().contains(each)) continue;
    (gaveUp(each) ? gone : missing).push_back(each);
  }
  const auto has = [](const std::vector<int>& instances) {
    std::vector<std::string> names;
    for (const int each : instances) names.push_back(std::to_string(each));
    return names.size() == 1 ? "instance " + names[0] + " has" : "instances " + join(names, ", ") + " have";
  };
  const auto late = [](int first, const std::string& why) {
    return FenceError{Code::kDeadlineExceeded, first, why + " (Context::setTimeout)"};
  };
  if (!missing.empty()) return late(missing.front(), has(missing) + " not entered the fence in time");
  if (allAreHere() && !gone.empty()) return late(gone.front(), has(gone) + " given up waiting in the fence");
  return late(-1, "an instance on another host has not entered the fence in time");
}

bool InstanceServer::gaveUp(int instance) const {
  return std::any_of(connections_.begin(), connections_.end(), [instance](const auto& each) {
    return each.second.instance == instance && each.second.gave_up;
  });
}

void InstanceServer::releaseFence(const PutValues& values) {
  fence_bytes_.reset();
  const std::map<int, std::string> inside = fence_->release(values);
  for (auto& [fd, connection] : connections_) {
    if (inside.contains(connection.instance)) answerFence(fd, connection, std::nullopt);
  }
  wakeWaiters();
}

void InstanceServer::announce(const EndNotice& end_notice) {
  deaths_.push_back(end_notice);
  if (segment_.exists()) segment_.publish(static_cast<std::uint32_t>(deaths_.size() - 1), end_notice);
  takeEntries();
  failFence({Code::kUnavailable, end_notice.instance, end_notice.text});
}

// All instances inside continue with an error.
void InstanceServer::failFence(const FenceError& error) {
  for (auto& [fd, connection] : connections_) {
    if (!isInside(connection)) continue;
    fence_->leave(connection.instance);
    answerFence(fd, connection, error);
  }
  wakeWaiters();
}

// Errors are always sent as messages, before the word in the slot that announces them.
void InstanceServer::answerFence(int fd, Connection& connection, const std::optional<FenceError>& error) {
  loop_.cancel(connection.fence_timer);
  if (error) {
    sendError(fd, connection, error->code, error->instance, error->message);
  } else if (!connection.in_slot) {
    send(fd, connection, InstanceMessage::kFenceReleased, {});
  }
  segment_.answer(connection.instance, connection.entry, error.has_value());
  waiters_answered_ = waiters_answered_ || connection.in_slot;
}

void InstanceServer::wakeWaiters() {
  if (std::exchange(waiters_answered_, false)) segment_.wakeWaiters();
}

}  // namespace pop::agent
