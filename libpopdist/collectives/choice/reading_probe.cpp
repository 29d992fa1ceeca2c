// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/reading_probe.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace popdist::choice {
namespace {

template <typename Value>
std::vector<Value> allOf(const shared::Meeting& meeting) {
  std::vector<Value> values(static_cast<std::size_t>(meeting.place().ranks));
  for (int rank = 0; rank < meeting.place().ranks; ++rank)
    std::memcpy(&values[static_cast<std::size_t>(rank)], meeting.data(rank), sizeof(Value));
  return values;
}

}  // namespace

bool ReadingProbe::ask(const shared::Call& call) {
  if (allowed_) return true;
  const shared::ProcessMark own = shared::ownMark();
  static_assert(sizeof(own) <= shared::kInlineBytes);
  if (!meeting_.exchange(call, &own, sizeof(own))) return false;
  std::vector<shared::ProcessMark> marks = allOf<shared::ProcessMark>(meeting_);
  const bool can_read_all = std::all_of(marks.begin(), marks.end(), [](const shared::ProcessMark& each) {
    return shared::isThisProcess(each) || shared::readFrom(each, 0, nullptr, 0).ok();
  });
  if (!meeting_.exchange(call, &can_read_all, sizeof(can_read_all))) return false;
  const std::vector<char> answers = allOf<char>(meeting_);
  allowed_ = std::find(answers.begin(), answers.end(), 0) == answers.end();
  if (*allowed_) engine_.setPeers(std::move(marks));
  return true;
}

}  // namespace popdist::choice
