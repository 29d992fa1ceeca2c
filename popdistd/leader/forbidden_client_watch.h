// SPDX-License-Identifier: Apache-2.0
// Checks again and again that etcd lets in popdistds only, as long as this process follows or leads.
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
  /// Loads what they show, for each try anew: a certificate that has expired, or was replaced, is refused
  /// whatever etcd thinks of the present one. From any thread.
  using Load = std::function<Result<std::vector<ForbiddenClient>>()>;
  using LetsIn = std::function<void(const Status& why)>;

  /// `etcd` outlives it. `lets_in` is called once, from a thread of its own; a try that proves nothing is in
  /// the log.
  ForbiddenClientWatch(EtcdClient& etcd, Load load, LetsIn lets_in,
                       std::chrono::milliseconds every = std::chrono::minutes(1));
  ~ForbiddenClientWatch();
  ForbiddenClientWatch(const ForbiddenClientWatch&) = delete;
  ForbiddenClientWatch& operator=(const ForbiddenClientWatch&) = delete;

  /// Ok: it refused all forbidden clients not long ago, or does now. From any thread. As checkRefuses();
  /// kUnavailable as well: what they show cannot be loaded.
  Status look();

 private:
  void run();
  Status tryAll();

  EtcdClient& etcd_;
  const Load load_;
  const LetsIn lets_in_;
  const std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool is_ending_ = false;                    ///< under the mutex
  std::optional<Clock::time_point> refused_;  ///< when it did; under the mutex
  std::thread thread_;
};

}  // namespace pop::popdistd
