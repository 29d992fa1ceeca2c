// SPDX-License-Identifier: Apache-2.0
// VipuApi: V-IPU's calls on the daemon's partitions. Calls that change something are answered when it is
// durable.
#pragma once

#include <functional>
#include <string>

#include "popdistd/api/vipu_api.h"
#include "popdistd/pods/holds.h"
#include "popdistd/pods/partitions.h"
#include "popdistd/pods/pod_access.h"

namespace pop::popdistd {

class VipuService final : public VipuApi {
 public:
  struct Parts {
    Commits& commits;
    Partitions& partitions;
    Holds& holds;
    std::function<void(std::int64_t job, const std::string& why)> cancel;
    std::function<std::string(std::int64_t job)> user_of;  ///< empty: the job is unknown
    std::string version;                                   ///< MAJOR.MINOR.PATCH
  };

  explicit VipuService(Parts parts) : parts_(std::move(parts)) {}

#define CALL(Name, member, Request, Answer, ...) \
  void member(const Caller& caller, virmgrpc::Request request, Reply<virmgrpc::Answer> reply) override;
#include "proto/calls/vipu.def"
  void getVersion(const Caller& caller, virmgrpc::VersionRequest request,
                  Reply<virmgrpc::VersionReply> reply) override;

 private:
  template <typename T>
  void answer(const Status& done, T message, Reply<T> reply);
  Status create(const Caller& caller, const virmgrpc::CreatePartitionRequest& request);
  Status checkTakes(const Caller& caller, const vipu::Partition& partition) const;
  Status remove(const Caller& caller, const virmgrpc::RemovePartitionRequest& request);
  Status reset(const Caller& caller, const virmgrpc::ResetPartitionRequest& request);
  Result<virmgrpc::GetPartitionIpuofConfigReply> ipuofConfig(
      const Caller& caller, const virmgrpc::GetPartitionIpuofConfigRequest& request);
  Result<virmgrpc::ListIPUAttributesReply> attributes(const Caller& caller,
                                                      const virmgrpc::ListIPUAttributesRequest& request);
  vipu::PartitionTable& table() {
    return parts_.partitions.table();
  }

  const Parts parts_;
};

}  // namespace pop::popdistd
