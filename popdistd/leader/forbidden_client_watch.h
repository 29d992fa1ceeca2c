// SPDX-License-Identifier: Apache-2.0
// Looks over and over whether etcd lets in anybody but popdistds, as long as this process follows or leads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "popdistd/etcd/forbidden_clients.h"

namespace pop::popdistd {

class ForbiddenClientWatch {
 public:
  using LetsIn = std::function<void(const Status& why)>;

  /// `etcd` outlives it. `lets_in` is called once, from a thread of its own.
  ForbiddenClientWatch(EtcdClient& etcd, std::vector<ForbiddenClient> forbidden, LetsIn lets_in,
                       std::chrono::milliseconds every = std::chrono::minutes(1));
  ~ForbiddenClientWatch();
  ForbiddenClientWatch(const ForbiddenClientWatch&) = delete;
  ForbiddenClientWatch& operator=(const ForbiddenClientWatch&) = delete;

  /// Ok: it refused all forbidden clients not long ago, or does now. From any thread. As checkRefuses().
  Status look();

 private:
  void run();
  Status tryAll();

  EtcdClient& etcd_;
  const std::vector<ForbiddenClient> forbidden_;
  const LetsIn lets_in_;
  const std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool is_ending_ = false;                    ///< under the mutex
  std::optional<Clock::time_point> refused_;  ///< when it did; under the mutex
  std::thread thread_;
};

}  // namespace pop::popdistd
