// SPDX-License-Identifier: Apache-2.0
// The latest changes as watchers get them, each made once for all watchers who may see the same of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "common/base/loop.h"
#include "popdistd/api/shown_change.h"
#include "popdistd/common/revisions.h"

namespace pop::popdistd {

/// The part of a thing that a watcher may see.
enum class Sight { kNothing, kWithoutPlace, kAll };

class ShownChanges {
 public:
  ShownChanges(const Loop& loop, const Revisions& revisions) : loop_(loop), revisions_(revisions) {}

  using Make = std::function<std::optional<v1::Change>()>;

  /// The change of `revision` for those with that sight of it: as `make` has shown it to the first of them,
  /// up to a second ago. Nothing where make() has nothing. Only the last 256 revisions are kept.
  std::optional<ShownChange> show(std::uint64_t revision, Sight sight, const Make& make);

 private:
  struct Kept {
    ShownChange change;
    Clock::time_point made;
  };

  bool isRecent(std::uint64_t revision) const;

  const Loop& loop_;
  const Revisions& revisions_;
  std::map<std::pair<std::uint64_t, Sight>, Kept> kept_;
};

}  // namespace pop::popdistd
