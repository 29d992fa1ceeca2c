// SPDX-License-Identifier: Apache-2.0
// Counts the calls of all services, and how they end. Included by this folder only.
#pragma once

#include <grpcpp/support/server_interceptor.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "popdistd/api/measures.h"

namespace pop::popdistd {

/// From any thread.
class RpcMeter {
 public:
  RpcMeters meters() const;

  void began(const std::string& stream);
  void closed(const std::string& stream);
  /// `seconds`: of a call that does not stream.
  void answered(const RpcMeters::Key& how, std::optional<double> seconds);

 private:
  mutable std::mutex mutex_;
  RpcMeters meters_;
};

/// For the server's builder. What it makes counts in `meter`, also after the server has gone.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> counting(
    std::shared_ptr<RpcMeter> meter);

}  // namespace pop::popdistd
