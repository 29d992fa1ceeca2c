// SPDX-License-Identifier: Apache-2.0
#include "agent/service/spares.h"

#include <algorithm>
#include <utility>

namespace pop::agent {
namespace {

auto ofUser(const std::string& user) {
  return [&user](const auto& each) { return each.user == user; };
}

}  // namespace

Spares::Spares(Loop& loop, SparesSettings settings, Start start)
    : loop_(loop), settings_(settings), start_(std::move(start)) {}

Spares::~Spares() {
  for (const Spare& spare : spares_) loop_.cancel(spare.idle_timer);
  for (const Refill& refill : refills_) loop_.cancel(refill.timer);
}

Result<JobProcess> Spares::take(const std::string& user) {
  scheduleRefill(user);
  const auto spare = std::find_if(spares_.begin(), spares_.end(), ofUser(user));
  if (spare == spares_.end()) return start_(user);
  JobProcess process = std::move(spare->process);
  drop(spare);
  if (process.hasEnded()) return start_(user);
  return process;
}

void Spares::renew(const std::function<bool(const std::string& user)>& wanted) {
  refills_.remove_if([&](const Refill& refill) {
    if (wanted(refill.user)) return false;
    loop_.cancel(refill.timer);
    return true;
  });
  while (!spares_.empty()) {
    const std::string user = spares_.front().user;
    drop(spares_.begin());
    if (wanted(user)) scheduleRefill(user);
  }
}

void Spares::scheduleRefill(const std::string& user) {
  if (settings_.most == 0 || std::any_of(refills_.begin(), refills_.end(), ofUser(user))) return;
  refills_.push_back({user, loop_.postAfter(settings_.refill_delay, [this, user] { refill(user); })});
}

// A failure to start an agent in advance is ignored: the next job reports it.
void Spares::refill(const std::string& user) {
  refills_.remove_if(ofUser(user));
  if (std::any_of(spares_.begin(), spares_.end(), ofUser(user))) return;
  Result<JobProcess> process = start_(user);
  if (!process.ok()) return;
  while (count() >= settings_.most) drop(spares_.begin());
  const TimerId timer = loop_.postAfter(settings_.idle, [this, user] {
    const auto spare = std::find_if(spares_.begin(), spares_.end(), ofUser(user));
    if (spare != spares_.end()) drop(spare);
  });
  spares_.push_back({user, std::move(*process), timer});
}

void Spares::drop(std::list<Spare>::iterator spare) {
  loop_.cancel(spare->idle_timer);
  spares_.erase(spare);
}

}  // namespace pop::agent
