// SPDX-License-Identifier: Apache-2.0
// Holds a partition of popdistd: no job gets it, and no user resets or removes it without force. A lost
// connection is made anew; the daemon knows the holder by a token.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/base/status.h"
#include "popctl/rpc/pods_client.h"

namespace pop::popctl {

class PartitionHold {
 public:
  /// Asks for it. `client` outlives this.
  PartitionHold(PodsClient& client, v1::HoldRequest request);
  /// Lets it go.
  ~PartitionHold();
  PartitionHold(const PartitionHold&) = delete;
  PartitionHold& operator=(const PartitionHold&) = delete;

  /// Blocks until it is held, or why it is not. kUnimplemented: the server is V-IPU's own.
  Status waitUntilHeld();

  /// `lost` is called on a thread of this when it is held no longer: removed with force, or the server has
  /// been away for too long. At once if that is so already.
  void onLost(std::function<void(const Status& why)> lost);

 private:
  class Stream;

  void run();
  Status readOnce(bool& received);
  bool pause();
  bool isHeld();

  PodsClient& client_;
  const v1::HoldRequest request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  bool stopping_ = false;
  std::optional<Status> end_;
  std::function<void(const Status&)> lost_;
  Stream* stream_ = nullptr;  ///< of the moment
  std::thread thread_;
};

}  // namespace pop::popctl
