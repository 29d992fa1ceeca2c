// SPDX-License-Identifier: Apache-2.0
// A client of popdistd with a connection of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "proto/popdist/v1/controller.grpc.pb.h"

namespace pop::bench {

class PopCluster;

/// With a connection of its own, as the user of that name: bench or root.
std::shared_ptr<grpc::Channel> channelTo(const PopCluster& cluster, const std::string& user);

/// A job of the program `words`, in /.
::popdist::v1::SubmitRequest jobOf(const std::vector<std::string>& words, int instances = 1);
/// A job that does nothing, and waits for its release.
::popdist::v1::SubmitRequest heldJob();

/// Any thread, one at a time.
class DaemonClient {
 public:
  explicit DaemonClient(const PopCluster& cluster);
  /// With its connection there before the first call.
  static Result<DaemonClient> connectedTo(const PopCluster& cluster);
  static Result<std::vector<DaemonClient>> connectedTo(const PopCluster& cluster, int clients);

  ::popdist::v1::Controller::Stub& stub() const { return *stub_; }

  bool serves() const;
  bool hasHost(const std::string& name) const;
  Result<::popdist::v1::JobInfo> submit(const ::popdist::v1::SubmitRequest& request) const;
  Result<::popdist::v1::JobInfo> cancel(std::int64_t job) const;
  /// Returns when it has ended; error: also when it has not succeeded.
  Status waitForSuccess(std::int64_t job) const;

 private:
  std::unique_ptr<::popdist::v1::Controller::Stub> stub_;
};

/// Status of a call.
Status statusOf(const grpc::Status& status);

/// `jobs` records of jobs that have ended: submitted held, and cancelled.
Status makeRecords(const PopCluster& cluster, int jobs);

/// Calls `work(thread)` in so many threads and joins them. The first error.
Status inThreads(int threads, const std::function<Status(int thread)>& work);

}  // namespace pop::bench
