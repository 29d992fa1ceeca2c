// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/async/agreed_order.h"

#include <algorithm>
#include <utility>

#include "libpopdist/collectives/group/collective_call.h"

namespace popdist::async {
namespace {

std::string describe(const Announcement& call) {
  return group::describeCall(call.key, call.count, call.name);
}

}  // namespace

void Agreement::add(int rank, const Announcement& call) {
  Entry& entry = open_[call.name];
  if (entry.by_rank.empty()) {
    entry.number = ++names_seen_;
    entry.by_rank.resize(ranks_);
  }
  std::optional<Announcement>& slot = entry.by_rank[static_cast<std::size_t>(rank)];
  if (!slot && ++entry.announced == ranks_) complete_.push_back(call.name);
  slot = call;
}

std::vector<Agreed> Agreement::takeAgreed(const exec::RankNames& names) {
  std::vector<Agreed> agreed;
  for (const std::string& name : std::exchange(complete_, {})) {
    const auto found = open_.find(name);
    agreed.push_back(judge(name, found->second, names));
    open_.erase(found);
  }
  return agreed;
}

Agreed Agreement::judge(const std::string& name, const Entry& entry, const exec::RankNames& names) const {
  const Announcement& first = *entry.by_rank.front();
  for (std::size_t rank = 1; rank < ranks_; ++rank) {
    const Announcement& theirs = *entry.by_rank[rank];
    if (theirs == first) continue;
    return {.name = name,
            .mismatch = exec::describeMismatch(exec::nameOfRank(names, static_cast<int>(rank)),
                                               describe(theirs), exec::nameOfRank(names, 0), describe(first)),
            .odd_rank = static_cast<int>(rank)};
  }
  return {.name = name};
}

std::optional<Agreement::Contradiction> Agreement::contradiction(const exec::RankNames& names) const {
  std::optional<std::string> first;
  int of = -1;
  for (int rank = 0; rank < static_cast<int>(ranks_); ++rank) {
    const std::optional<std::string> oldest = oldestOf(rank);
    if (!oldest || oldest == first) continue;
    if (first)
      return Contradiction{"the call is '" + *first + "' on " + exec::nameOfRank(names, of) + " and '" +
                               *oldest + "' on " + exec::nameOfRank(names, rank) +
                               ": make the same calls in the same order on all instances",
                           rank};
    first = oldest;
    of = rank;
  }
  return std::nullopt;
}

bool Agreement::awaitsOthers(int rank) const {
  return std::any_of(open_.begin(), open_.end(), [rank](const auto& each) {
    return each.second.by_rank[static_cast<std::size_t>(rank)].has_value();
  });
}

bool Agreement::isAwaited(int rank) const {
  return std::any_of(open_.begin(), open_.end(), [rank](const auto& each) {
    return !each.second.by_rank[static_cast<std::size_t>(rank)].has_value();
  });
}

std::vector<int> Agreement::ranksWithout(const std::string& name) const {
  std::vector<int> ranks;
  const auto found = open_.find(name);
  if (found == open_.end()) return ranks;
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    if (!found->second.by_rank[rank]) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

std::string Agreement::describeRanksWithout(const std::string& name, const exec::RankNames& names) const {
  std::string text;
  for (const int rank : ranksWithout(name)) {
    text += (text.empty() ? "" : " and ") + exec::nameOfRank(names, rank);
    if (const auto other = oldestOf(rank)) text += ", which waits for '" + *other + "',";
  }
  if (text.ends_with(',')) text.pop_back();
  return text;
}

std::optional<std::string> Agreement::oldestOf(int rank) const {
  const std::pair<const std::string, Entry>* oldest = nullptr;
  for (const auto& each : open_) {
    const bool waits = each.second.by_rank[static_cast<std::size_t>(rank)].has_value();
    if (waits && (oldest == nullptr || each.second.number < oldest->second.number)) oldest = &each;
  }
  return oldest == nullptr ? std::nullopt : std::optional(oldest->first);
}

}  // namespace popdist::async
