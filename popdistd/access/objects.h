// SPDX-License-Identifier: Apache-2.0
// What a request is about, as the audit log names it: "job 12", "host h0". Pure; included by this folder
// only.
#pragma once

#include <string>

#include "popdistd/api/pods_api.h"
#include "popdistd/api/vipu_api.h"

namespace pop::popdistd {

inline std::string objectOf(const v1::JobRef& job) {
  return "job " + (job.id() != 0 ? std::to_string(job.id()) : job.name());
}
inline std::string objectOf(const v1::SubmitRequest& request) {
  return request.name().empty() ? "" : "job " + request.name();
}
inline std::string objectOf(const v1::SignalRequest& request) {
  return objectOf(request.job());
}
inline std::string objectOf(const v1::CancelRequest& request) {
  return objectOf(request.job());
}
inline std::string objectOf(const v1::HostRef& host) {
  return "host " + host.name();
}
inline std::string objectOf(const v1::DrainRequest& request) {
  return objectOf(request.host());
}
inline std::string objectOf(const v1::QuotaRef& quota) {
  return (quota.kind() == v1::QUOTA_USER ? "quota of user " : "quota of allocation ") + quota.name();
}
inline std::string objectOf(const v1::QuotaInfo& quota) {
  return objectOf(quota.of());
}

inline std::string objectOf(const v1::ClusterInfo& cluster) {
  return "cluster " + cluster.id();
}
inline std::string objectOf(const v1::ClusterRef& cluster) {
  return "cluster " + cluster.id();
}
inline std::string objectOf(const v1::AgentInfo& agent) {
  return "agent " + agent.id();
}
inline std::string objectOf(const v1::AgentRef& agent) {
  return "agent " + agent.id();
}
inline std::string objectOf(const v1::DrainAgentRequest& request) {
  return objectOf(request.agent());
}
inline std::string objectOf(const v1::CreateAllocationRequest& request) {
  return "allocation " + request.allocation().id();
}
inline std::string objectOf(const v1::AllocationRef& allocation) {
  return "allocation " + allocation.id();
}
inline std::string objectOf(const v1::ReleasePartitionRequest& request) {
  return "partition " + request.partition() + (request.force() ? " with force: " + request.reason() : "");
}
inline std::string objectOf(const v1::HoldRequest& request) {
  return "partition " + request.partition();
}

inline std::string objectOf(const virmgrpc::CreatePartitionRequest& request) {
  return "partition " + request.requirements().id();
}
inline std::string objectOf(const virmgrpc::RemovePartitionRequest& request) {
  return "partition " + request.partition_id() + (request.force() ? " with force" : "");
}
inline std::string objectOf(const virmgrpc::ResetPartitionRequest& request) {
  return "partition " + request.partition_id();
}

inline std::string objectOf(const v1::CreateUserRequest& request) {
  return "user " + request.name();
}
inline std::string objectOf(const v1::UserRef& user) {
  return "user " + user.name();
}
inline std::string objectOf(const v1::TokenRef& token) {
  return "token " + token.id();
}
inline std::string objectOf(const v1::CreateTokenRequest& request) {
  return request.user().empty() ? "token" : "token of user " + request.user();
}

/// Of what only reads, which nobody writes down.
template <typename Request>
std::string objectOf(const Request&) {
  return {};
}

}  // namespace pop::popdistd
