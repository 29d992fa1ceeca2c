// SPDX-License-Identifier: Apache-2.0
// A gRPC server in the test over the daemon's own core: Pods, and V-IPU's services. Without Pods it is what a
// server of V-IPU's is to us. Every call is made by root, and lets one second pass.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "proto/popdist/v1/pods.grpc.pb.h"
#include "proto/virmgrpc/version.grpc.pb.h"
#include "proto/virmgrpc/vipuuser.grpc.pb.h"

namespace pop::testing {

namespace v1 = ::popdist::v1;

class PodsServer {
 public:
  /// With a Pod64 that every user may use.
  explicit PodsServer(bool has_pods = true);
  ~PodsServer();
  PodsServer(const PodsServer&) = delete;
  PodsServer& operator=(const PodsServer&) = delete;

  std::string address() const { return "127.0.0.1:" + port(); }
  std::string port() const { return std::to_string(port_); }

  /// Its port is closed, and streams break; what it has stays.
  void stop();
  /// After that: at the same port.
  void start();

  /// The time that the IPUs of a partition take to be configured.
  void setConfigureDelay(std::chrono::milliseconds delay);
  std::optional<v1::PartitionInfo> partition(const std::string& id);

 private:
  class Core;
  class PodsCalls;
  class UserCalls;
  class VersionCalls;

  const std::unique_ptr<Core> core_;
  const std::unique_ptr<PodsCalls> pods_;
  const std::unique_ptr<UserCalls> user_;
  const std::unique_ptr<VersionCalls> version_;
  const bool has_pods_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace pop::testing
