// SPDX-License-Identifier: Apache-2.0
#include "popdistd/net/shares.h"

#include <algorithm>

#include "common/base/text.h"

namespace pop::popdistd {
namespace {

constexpr std::size_t kMostForOthers = 1024;

Status tooMany(int count, const std::string& of) {
  return {Code::kResourceExhausted, "there are " + counted(count, "connection") + ' ' + of};
}

}  // namespace

ConnectionLimits limitsWithin(std::size_t most_descriptors, ConnectionLimits limits) {
  const std::size_t left = most_descriptors - std::min(most_descriptors / 2, kMostForOthers);
  limits.most = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(limits.most), left));
  limits.most_unknown = std::min(limits.most_unknown, limits.most / 2);
  limits.most_unknown_of_one = std::min(limits.most_unknown_of_one, limits.most_unknown / 2);
  return limits;
}

Status Shares::room(const std::string& address) const {
  if (count_ >= limits_.most) return tooMany(count_, "in all");
  const auto found = unknown_of_.find(address);
  const int of_one = found == unknown_of_.end() ? 0 : found->second;
  if (of_one < limits_.always_of_one) return {};
  if (of_one >= limits_.most_unknown_of_one)
    return tooMany(of_one, "from " + address + " whose callers are unknown");
  if (unknown_ >= limits_.most_unknown) return tooMany(unknown_, "whose callers are unknown");
  return {};
}

void Shares::take(const std::string& address) {
  ++count_;
  ++unknown_;
  ++unknown_of_[address];
}

void Shares::becomesKnown(const std::string& address) {
  --unknown_;
  if (const auto of = unknown_of_.find(address); --of->second == 0) unknown_of_.erase(of);
}

void Shares::giveBack(const std::string& address, bool is_known) {
  --count_;
  if (!is_known) becomesKnown(address);
}

}  // namespace pop::popdistd
