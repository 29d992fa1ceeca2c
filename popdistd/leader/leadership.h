// SPDX-License-Identifier: Apache-2.0
// One of several popdistds leads: the one whose key is in etcd. The key ends with its lease, which a thread
// keeps alive.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "popdistd/etcd/etcd_client.h"
#include "popdistd/etcd/fence.h"
#include "proto/popdist/v1/store.pb.h"

namespace pop::popdistd {

struct LeaseTimes {
  std::chrono::seconds duration{5};
  std::chrono::milliseconds margin{1000};  ///< so long before its end it counts as lost
  std::chrono::milliseconds every{1000};   ///< so often it is kept alive
};

/// PREFIX/leader.
std::string leaderKey(const std::string& prefix);

/// The current leader, if any.
Result<std::optional<::popdist::v1::LeaderRecord>> readLeader(EtcdClient& etcd, const std::string& prefix,
                                                              Clock::time_point deadline);

class Leadership {
 public:
  using Lost = std::function<void(const Status& why)>;

  /// Takes the leadership, if it is free: null otherwise. `lost` is called at most once, from a thread of its
  /// own, before the lease can have ended. `etcd` outlives the object.
  static Result<std::unique_ptr<Leadership>> tryToTake(EtcdClient& etcd, const std::string& prefix,
                                                       const ::popdist::v1::LeaderRecord& self, Lost lost,
                                                       LeaseTimes times = {});
  /// Gives it back, so that another need not wait for the lease's end.
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  Fence fence();
  /// Loses it if its time is over. From any thread.
  void check();
  Clock::time_point heldUntil() const { return Clock::time_point(Clock::duration(held_until_.load())); }

 private:
  Leadership(EtcdClient& etcd, std::string key, Lost lost, LeaseTimes times)
      : etcd_(etcd), key_(std::move(key)), lost_(std::move(lost)), times_(times) {}

  // By the lease as it was when the request for it was sent.
  void hold(Clock::time_point sent);
  void keepAlive();
  void lose(const Status& why);

  EtcdClient& etcd_;
  const std::string key_;
  const Lost lost_;
  const LeaseTimes times_;
  std::int64_t lease_ = 0;
  std::int64_t revision_ = 0;
  std::atomic<Clock::rep> held_until_{0};
  std::atomic<bool> is_lost_{false};
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool is_ending_ = false;  ///< under the mutex
  std::thread thread_;
};

}  // namespace pop::popdistd
