// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/failed_logins.h"

#include <algorithm>

namespace pop::popdistd {
namespace {

constexpr std::chrono::seconds kWindow{60};

}  // namespace

Status FailedLogins::check(const std::string& address, Time now) const {
  const auto count = counts_.find(address);
  if (count == counts_.end() || count->second.failures < kMost) return {};
  const auto left = std::chrono::ceil<std::chrono::seconds>(count->second.since + kWindow - now);
  if (left <= std::chrono::seconds(0)) return {};
  return {Code::kResourceExhausted, "too many wrong tokens or keys came from " + address + ": try again in " +
                                        std::to_string(left.count()) + " s"};
}

void FailedLogins::failed(const std::string& address, Time now) {
  if (!counts_.contains(address) && counts_.size() >= kMostAddresses) {
    std::erase_if(counts_, [now](const auto& each) { return each.second.since + kWindow <= now; });
    if (counts_.size() >= kMostAddresses) {
      const auto oldest = std::min_element(counts_.begin(), counts_.end(), [](const auto& a, const auto& b) {
        return a.second.since < b.second.since;
      });
      counts_.erase(oldest);
    }
  }
  Count& count = counts_.try_emplace(address, Count{now, 0}).first->second;
  if (count.since + kWindow <= now) count = {now, 0};
  ++count.failures;
}

}  // namespace pop::popdistd
