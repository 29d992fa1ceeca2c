// SPDX-License-Identifier: Apache-2.0
// PodsApi: who may, what is done, and the answer when it is durable.
#pragma once

#include <functional>

#include "popdistd/api/pods_api.h"
#include "popdistd/pods/holds.h"
#include "popdistd/pods/pod_access.h"
#include "popdistd/pods/pod_inventory.h"

namespace pop::popdistd {

class PodsService final : public PodsApi {
 public:
  struct Parts {
    Commits& commits;
    Revisions& revisions;
    Partitions& partitions;
    PodInventory& inventory;
    Holds& holds;
    std::function<bool(std::int64_t job)> is_over;  ///< it has ended, or is unknown
    std::function<bool(const std::string& allocation)> has_quota;
    std::function<void(const std::string&)> audit;  ///< a line for the log
  };

  explicit PodsService(Parts parts) : parts_(std::move(parts)) {}

#define CALL(Name, member, Request, Answer, ...) \
  void member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) override;
#include "proto/calls/pods.def"
  Result<std::unique_ptr<Source<v1::HoldReply>>> holdPartition(const Caller& caller,
                                                               const v1::HoldRequest& request,
                                                               Api::Ready ready) override;

 private:
  /// Answers with what `show` gives once what has been written is durable, or with the error at once.
  template <typename T>
  void answer(const Status& done, Reply<T> reply, std::function<T()> show);
  void answer(const Status& done, Reply<v1::Nothing> reply);
  /// A change of the inventory, by a caller who manages the cluster.
  static Status byManager(const Caller& caller, const std::string& what, const std::function<Status()>& act);
  Status release(const Caller& caller, const v1::ReleasePartitionRequest& request);
  bool seesCluster(const Caller& caller, const std::string& cluster);
  vipu::PartitionTable& table() {
    return parts_.partitions.table();
  }

  const Parts parts_;
};

}  // namespace pop::popdistd
