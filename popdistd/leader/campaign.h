// SPDX-License-Identifier: Apache-2.0
// Waits to lead: looks for the leader, by a thread of its own, and takes the place as soon as it is free.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "common/base/loop.h"
#include "popdistd/leader/leadership.h"

namespace pop::popdistd {

struct CampaignSettings {
  EtcdClient& etcd;  ///< outlives the campaign
  std::string prefix;
  ::popdist::v1::LeaderRecord self;
  Leadership::Lost lost;               ///< of the leadership, once it is taken
  std::function<Status()> may_take{};  ///< null: always; by the campaign's thread
  LeaseTimes times = {};
};

class Campaign {
 public:
  struct Events {
    /// The leader, or why it is unknown (no leader: ok, and nothing). When it changes, and at first.
    std::function<void(const std::optional<::popdist::v1::LeaderRecord>& leader, const Status& problem)>
        leader;
    /// This process. The last event.
    std::function<void(std::unique_ptr<Leadership>)> leads;
  };

  /// Events come by `loop`, which outlives the campaign.
  Campaign(Loop& loop, CampaignSettings settings, Events events);
  /// Waits for the call of etcd that is under way: a second or two.
  ~Campaign();
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

 private:
  void run();
  // True if the campaign is over.
  bool look();
  void tell(const std::optional<::popdist::v1::LeaderRecord>& leader, const Status& problem);
  void post(std::function<void()> event);

  Loop& loop_;
  const CampaignSettings settings_;
  const Events events_;
  std::string last_told_;  ///< the thread's
  const std::shared_ptr<std::atomic<bool>> is_over_ = std::make_shared<std::atomic<bool>>(false);
  std::thread thread_;
};

}  // namespace pop::popdistd
