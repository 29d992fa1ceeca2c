// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/revisions.h"

#include <utility>

namespace pop::popdistd {
namespace {

constexpr std::size_t kMaxRemoved = 1000;

}  // namespace

std::uint64_t Revisions::changed(const ThingId& thing, std::uint64_t last) {
  return add(thing, last, false);
}

void Revisions::removed(const ThingId& thing, std::uint64_t last) {
  removed_.push_back(add(thing, last, true));
  if (removed_.size() <= kMaxRemoved) return;
  first_ = removed_.front();
  entries_.erase(first_);
  removed_.pop_front();
}

void Revisions::restart() {
  entries_.clear();
  removed_.clear();
  first_ = ++current_;
}

std::uint64_t Revisions::add(const ThingId& thing, std::uint64_t last, bool is_removed) {
  entries_.erase(last);
  entries_.emplace(++current_, Entry{thing, is_removed});
  is_telling_ = true;
  // One of them may go while it is told.
  for (auto next = subscribers_.begin(); next != subscribers_.end();) {
    const auto each = next++;
    (*each)();
  }
  is_telling_ = false;
  return current_;
}

Revisions::Subscription Revisions::subscribe(std::function<void()> changed) {
  return subscribers_.insert(subscribers_.end(), std::move(changed));
}

}  // namespace pop::popdistd
