// SPDX-License-Identifier: Apache-2.0
#include "popdistd/common/revisions.h"

#include <utility>

namespace pop::popdistd {
namespace {

constexpr std::size_t kMaxRemoved = 1000;

}  // namespace

std::uint64_t Revisions::changed(const ThingId& thing, std::uint64_t last) {
  return add(last, {.thing = thing, .is_removed = false, .may_hear = nullptr});
}

void Revisions::removed(const ThingId& thing, std::uint64_t last, MayHear may_hear) {
  removed_.push_back(add(last, {.thing = thing, .is_removed = true, .may_hear = std::move(may_hear)}));
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

std::uint64_t Revisions::add(std::uint64_t last, Entry entry) {
  entries_.erase(last);
  entries_.emplace(++current_, std::move(entry));
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
