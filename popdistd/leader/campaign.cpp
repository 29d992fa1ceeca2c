// SPDX-License-Identifier: Apache-2.0
#include "popdistd/leader/campaign.h"

#include <chrono>
#include <utility>

namespace pop::popdistd {
namespace {

constexpr std::chrono::milliseconds kEvery{250};
constexpr std::chrono::milliseconds kTimeout{1500};

}  // namespace

Campaign::Campaign(Loop& loop, CampaignSettings settings, Events events)
    : loop_(loop), settings_(std::move(settings)), events_(std::move(events)), thread_([this] { run(); }) {}

Campaign::~Campaign() {
  *is_over_ = true;
  thread_.join();
}

void Campaign::run() {
  while (!*is_over_ && !look()) std::this_thread::sleep_for(kEvery);
}

bool Campaign::look() {
  auto leader = readLeader(settings_.etcd, settings_.prefix, Clock::now() + kTimeout);
  if (!leader.ok()) {
    tell({}, leader.status());
    return false;
  }
  if (*leader) {
    tell(*leader, {});
    return false;
  }
  if (const Status may = settings_.may_take ? settings_.may_take() : Status(); !may.ok()) {
    tell({}, may);
    return false;
  }
  auto taken = Leadership::tryToTake(settings_.etcd, settings_.prefix, settings_.self, settings_.lost,
                                     settings_.times);
  if (!taken.ok()) tell({}, taken.status());
  if (!taken.ok() || *taken == nullptr) return false;
  post([this, mine = std::make_shared<std::unique_ptr<Leadership>>(std::move(*taken))] {
    events_.leads(std::move(*mine));
  });
  return true;
}

void Campaign::tell(const std::optional<::popdist::v1::LeaderRecord>& leader, const Status& problem) {
  std::string told = leader ? leader->SerializeAsString() : "no leader: " + problem.message();
  if (std::exchange(last_told_, told) == told) return;
  post([this, leader, problem] { events_.leader(leader, problem); });
}

// The loop may run it when the campaign is gone.
void Campaign::post(std::function<void()> event) {
  loop_.post([is_over = is_over_, event = std::move(event)] {
    if (!*is_over) event();
  });
}

}  // namespace pop::popdistd
