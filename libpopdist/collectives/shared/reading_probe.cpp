// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/shared/reading_probe.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace popdist::shared {
namespace {

template <typename Value>
std::vector<Value> allOf(const Meeting& meeting) {
  std::vector<Value> values(static_cast<std::size_t>(meeting.place().ranks));
  for (int rank = 0; rank < meeting.place().ranks; ++rank)
    std::memcpy(&values[static_cast<std::size_t>(rank)], meeting.data(rank), sizeof(Value));
  return values;
}

}  // namespace

bool ReadingProbe::ask(const Call& call) {
  if (allowed_) return true;
  const ProcessMark own = ownMark();
  static_assert(sizeof(own) <= kInlineBytes);
  if (!meeting_.exchange(call, &own, sizeof(own))) return false;
  std::vector<ProcessMark> marks = allOf<ProcessMark>(meeting_);
  const bool can_read_all = std::all_of(marks.begin(), marks.end(), [](const ProcessMark& each) {
    return isThisProcess(each) || readFrom(each, 0, nullptr, 0).ok();
  });
  if (!meeting_.exchange(call, &can_read_all, sizeof(can_read_all))) return false;
  const std::vector<char> answers = allOf<char>(meeting_);
  allowed_ = std::find(answers.begin(), answers.end(), 0) == answers.end();
  if (*allowed_) engine_.setPeers(std::move(marks));
  return true;
}

}  // namespace popdist::shared
