// SPDX-License-Identifier: Apache-2.0
#include "agent/service/known_users.h"

#include <utility>

namespace pop::agent {

KnownUsers::KnownUsers(Loop& loop, Lookup lookup, KnownUsersAges ages)
    : loop_(loop),
      lookup_(std::move(lookup)),
      ages_(ages),
      look_up_(loop, [this](const std::stop_token& stop) { return lookUpWanted(stop); }) {}

std::optional<Login> KnownUsers::find(const std::string& name) {
  const auto found = known_.find(name);
  const auto age = found == known_.end() ? ages_.dropped : loop_.now() - found->second.since;
  if (age >= ages_.renewed) want(name);
  if (age < ages_.dropped) return found->second.login;
  if (found != known_.end()) known_.erase(found);
  return std::nullopt;
}

void KnownUsers::forget() {
  known_.clear();
  ++changes_;
}

void KnownUsers::want(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    changes_when_wanted_ = changes_;
    if (!wanted_.try_emplace(name, loop_.now()).second) return;
  }
  look_up_.start();
}

// A user stays wanted until it has been looked up, so that those who ask meanwhile cause no second look-up.
// One that is not found is no loss: the start of a program reports the reason.
Reload::Task KnownUsers::lookUpWanted(const std::stop_token& stop) {
  std::map<std::string, Clock::time_point> names;
  int changes = 0;
  {
    const std::lock_guard lock(mutex_);
    names = wanted_;
    changes = changes_when_wanted_;
  }
  std::map<std::string, Known> found;
  for (const auto& [name, since] : names) {
    if (stop.stop_requested()) break;
    Result<Login> login = lookup_(name);
    if (login.ok()) found[name] = {std::move(login).value(), since};
  }
  return [this, names = std::move(names), found = std::move(found), changes]() mutable {
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [name, since] : names) wanted_.erase(name);
    }
    if (changes != changes_) return;
    for (auto& [name, known] : found) known_[name] = std::move(known);
  };
}

}  // namespace pop::agent
