// SPDX-License-Identifier: Apache-2.0
// Requests to a server about partitions of IPUs, one blocking call each: V-IPU's own calls
// (proto/virmgrpc), which V-IPU's server answers as well, and those of popdistd alone
// (proto/popdist/v1/pods.proto), for which V-IPU's is kUnimplemented. Errors have the server's words;
// kUnavailable: it cannot be reached.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "popctl/rpc/server.h"
#include "proto/popdist/v1/pods.pb.h"
#include "proto/virmgrpc/version.pb.h"
#include "proto/virmgrpc/vipuuser.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

struct Connection;

/// From any thread.
class PodsClient {
 public:
  /// `timeout`: of each call but hold().
  PodsClient(Server server, std::chrono::milliseconds timeout);
  ~PodsClient();
  PodsClient(const PodsClient&) = delete;
  PodsClient& operator=(const PodsClient&) = delete;

  const Server& server() const;
  Connection& connection();
  std::chrono::milliseconds timeout() const { return timeout_; }

  /// For kUntilNextAttempt, or until more is known of a connection that is lost. From any thread.
  void waitForNextAttempt();

  Result<virmgrpc::VersionReply> version();
#define CALL(Name, member, Request, Answer, ...) \
  Result<virmgrpc::Answer> member(const virmgrpc::Request& request);
#include "proto/calls/vipu.def"
  Result<virmgrpc::PartitionStatus> partitionStatus(const std::string& partition);

  // popdistd's
#define CALL(Name, member, Request, Answer, ...) Result<v1::Answer> member(const v1::Request& request);
#include "proto/calls/pods.def"
  /// All pages.
  Result<v1::ListPodPartitionsReply> listPodPartitions(const v1::ListPodPartitionsRequest& request);
  /// Nothing: the server is V-IPU's own, or there is no such partition.
  Result<std::optional<v1::PartitionInfo>> partitionInfo(const std::string& partition);

 private:
  struct Stubs;

  const std::unique_ptr<Stubs> stubs_;
  const std::chrono::milliseconds timeout_;
};

}  // namespace pop::popctl
