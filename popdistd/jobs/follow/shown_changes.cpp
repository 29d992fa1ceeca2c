// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/follow/shown_changes.h"

namespace pop::popdistd {
namespace {

constexpr std::uint64_t kMostRevisions = 256;
// A message also shows what changes without a revision: when a job is expected to start, how busy a host is.
constexpr std::chrono::seconds kFresh{1};

}  // namespace

// While subscribers are told of a change, the thing does not have that revision yet: who reads it then gets a
// message of its own.
std::optional<ShownChange> ShownChanges::show(std::uint64_t revision, Sight sight, const Make& make) {
  const bool keeps = isRecent(revision) && !revisions_.isTelling();
  const Clock::time_point now = loop_.now();
  if (keeps) {
    const auto found = kept_.find({revision, sight});
    if (found != kept_.end() && now - found->second.made < kFresh) return found->second.change;
  }
  std::optional<v1::Change> made = make();
  if (!made) return std::nullopt;
  ShownChange change(std::move(*made));
  if (!keeps) return change;
  while (!kept_.empty() && !isRecent(kept_.begin()->first.first)) kept_.erase(kept_.begin());
  kept_.insert_or_assign({revision, sight}, Kept{change, now});
  return change;
}

bool ShownChanges::isRecent(std::uint64_t revision) const {
  return revision + kMostRevisions > revisions_.current();
}

}  // namespace pop::popdistd
