// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/grpc_vipu.h"

#include <utility>

#include "popdistd/rpc/service_calls.h"
#include "proto/virmgrpc/version.grpc.pb.h"
#include "proto/virmgrpc/vipuuser.grpc.pb.h"

namespace pop::popdistd {
namespace {

class GrpcVipuUser final : public virmgrpc::UserService::CallbackService, private ServiceCalls<VipuApi> {
 public:
  using ServiceCalls::ServiceCalls;

  Unary* ListPartitions(Context* c, const virmgrpc::ListPartitionsRequest* q,
                        virmgrpc::ListPartitionsReply* a) override {
    return unary(c, q, a, &VipuApi::listPartitions);
  }
  Unary* ListIPUAttributes(Context* c, const virmgrpc::ListIPUAttributesRequest* q,
                           virmgrpc::ListIPUAttributesReply* a) override {
    return unary(c, q, a, &VipuApi::listIpuAttributes);
  }
  Unary* CreatePartition(Context* c, const virmgrpc::CreatePartitionRequest* q,
                         virmgrpc::CreatePartitionReply* a) override {
    return unary(c, q, a, &VipuApi::createPartition);
  }
  Unary* RemovePartition(Context* c, const virmgrpc::RemovePartitionRequest* q,
                         virmgrpc::RemovePartitionReply* a) override {
    return unary(c, q, a, &VipuApi::removePartition);
  }
  Unary* ResetPartition(Context* c, const virmgrpc::ResetPartitionRequest* q,
                        virmgrpc::ResetPartitionReply* a) override {
    return unary(c, q, a, &VipuApi::resetPartition);
  }
  Unary* GetPartitionIpuofConfig(Context* c, const virmgrpc::GetPartitionIpuofConfigRequest* q,
                                 virmgrpc::GetPartitionIpuofConfigReply* a) override {
    return unary(c, q, a, &VipuApi::getPartitionIpuofConfig);
  }
  Unary* GetPartitionStatus(Context* c, const virmgrpc::GetPartitionStatusRequest* q,
                            virmgrpc::GetPartitionStatusReply* a) override {
    return unary(c, q, a, &VipuApi::getPartitionStatus);
  }
};

class GrpcVipuVersion final : public virmgrpc::VersionService::CallbackService,
                              private ServiceCalls<VipuApi> {
 public:
  using ServiceCalls::ServiceCalls;

  Unary* GetVersion(Context* c, const virmgrpc::VersionRequest* q, virmgrpc::VersionReply* a) override {
    return unary(c, q, a, &VipuApi::getVersion);
  }
};

}  // namespace

std::unique_ptr<grpc::Service> makeVipuUserService(std::shared_ptr<Calls> calls, VipuApi& vipu,
                                                   std::shared_ptr<const CallersOf> callers) {
  return std::make_unique<GrpcVipuUser>(std::move(calls), vipu, std::move(callers));
}

std::unique_ptr<grpc::Service> makeVipuVersionService(std::shared_ptr<Calls> calls, VipuApi& vipu,
                                                      std::shared_ptr<const CallersOf> callers) {
  return std::make_unique<GrpcVipuVersion>(std::move(calls), vipu, std::move(callers));
}

}  // namespace pop::popdistd
