// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/choice/reading_probe.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace popdist::choice {
namespace {

template <typename Value>
std::vector<Value> allOf(const shared::Engine& engine, int ranks) {
  std::vector<Value> values(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    std::memcpy(&values[static_cast<std::size_t>(rank)], engine.data(rank), sizeof(Value));
  return values;
}

}  // namespace

bool ReadingProbe::ask(const shared::Call& call) {
  if (allowed_) return true;
  const shared::ProcessMark own = shared::ownMark();
  static_assert(sizeof(own) <= shared::kInlineBytes);
  if (!engine_.exchange(call, &own, sizeof(own))) return false;
  std::vector<shared::ProcessMark> marks = allOf<shared::ProcessMark>(engine_, ranks_);
  const bool can_read_all = std::all_of(marks.begin(), marks.end(), [](const shared::ProcessMark& each) {
    return shared::isThisProcess(each) || shared::readFrom(each, 0, nullptr, 0).ok();
  });
  if (!engine_.exchange(call, &can_read_all, sizeof(can_read_all))) return false;
  const std::vector<char> answers = allOf<char>(engine_, ranks_);
  allowed_ = std::find(answers.begin(), answers.end(), 0) == answers.end();
  if (*allowed_) engine_.setPeers(std::move(marks));
  return true;
}

}  // namespace popdist::choice
