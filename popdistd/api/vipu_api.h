// SPDX-License-Identifier: Apache-2.0
// V-IPU's user API as one interface, for clients of V-IPU: gRPC only carries it. Semantics:
// proto/virmgrpc/vipuuser.proto. All of it is called on the loop's thread.
//
// Codes: kNotFound there is no such partition, GCD, allocation or machine; kAlreadyExists; kInvalidArgument a
// partition that cannot be; kResourceExhausted no block is free; kFailedPrecondition it is in use, or not in
// its state; kPermissionDenied another's allocation.
#pragma once

#include "popdistd/api/api.h"
#include "proto/virmgrpc/version.pb.h"
#include "proto/virmgrpc/vipuuser.pb.h"

namespace pop::popdistd {

class VipuApi {
 public:
  virtual ~VipuApi() = default;

  virtual void listPartitions(const Caller& caller, virmgrpc::ListPartitionsRequest request,
                              Reply<virmgrpc::ListPartitionsReply> reply) = 0;
  virtual void listIpuAttributes(const Caller& caller, virmgrpc::ListIPUAttributesRequest request,
                                 Reply<virmgrpc::ListIPUAttributesReply> reply) = 0;
  virtual void createPartition(const Caller& caller, virmgrpc::CreatePartitionRequest request,
                               Reply<virmgrpc::CreatePartitionReply> reply) = 0;
  virtual void removePartition(const Caller& caller, virmgrpc::RemovePartitionRequest request,
                               Reply<virmgrpc::RemovePartitionReply> reply) = 0;
  virtual void resetPartition(const Caller& caller, virmgrpc::ResetPartitionRequest request,
                              Reply<virmgrpc::ResetPartitionReply> reply) = 0;
  virtual void getPartitionIpuofConfig(const Caller& caller, virmgrpc::GetPartitionIpuofConfigRequest request,
                                       Reply<virmgrpc::GetPartitionIpuofConfigReply> reply) = 0;
  virtual void getPartitionStatus(const Caller& caller, virmgrpc::GetPartitionStatusRequest request,
                                  Reply<virmgrpc::GetPartitionStatusReply> reply) = 0;

  virtual void getVersion(const Caller& caller, virmgrpc::VersionRequest request,
                          Reply<virmgrpc::VersionReply> reply) = 0;
};

}  // namespace pop::popdistd
