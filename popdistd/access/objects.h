// SPDX-License-Identifier: Apache-2.0
// The object of a request, as the audit log names it: "job 12", "host h0". Pure; included by this folder
// only.
#pragma once

#include <string>

#include "popdistd/access/policy.h"
#include "popdistd/api/pods_api.h"
#include "popdistd/api/vipu_api.h"

namespace pop::popdistd {

inline std::string objectOf(const v1::JobRef& job) {
  return "job " + (job.id() != 0 ? std::to_string(job.id()) : job.name());
}
inline std::string objectOf(const v1::SubmitRequest& request) {
  return request.name().empty() ? "a job without a name" : "job " + request.name();
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
  std::string limits;
  const auto add = [&limits](bool is_set, const char* name, int value) {
    if (is_set) limits += std::string(", ") + name + ' ' + std::to_string(value);
  };
  add(quota.has_queued_jobs(), "queued", quota.queued_jobs());
  add(quota.has_running_jobs(), "running", quota.running_jobs());
  add(quota.has_instances(), "instances", quota.instances());
  add(quota.has_ipus(), "ipus", quota.ipus());
  add(quota.has_share(), "share", quota.share());
  return objectOf(quota.of()) + limits;
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
  const bool has_role = request.role() != v1::ROLE_NONE;
  return "user " + request.name() +
         (has_role || request.shut_out() ? ", role " + std::string(roleName(request.role())) : "") +
         (request.vipu_key() ? ", with a new key" : "");
}
inline std::string objectOf(const v1::UserRef& user) {
  return "user " + user.name();
}
inline std::string objectOf(const v1::TokenRef& token) {
  return "token " + token.id();
}
inline std::string objectOf(const v1::CreateTokenRequest& request) {
  const bool has_scope = request.scope() != v1::ROLE_NONE;
  return (request.user().empty() ? "token" : "token of user " + request.user()) +
         (has_scope ? ", scope " + std::string(roleName(request.scope())) : "");
}

/// Empty for requests that only read, which are not audited.
template <typename Request>
std::string objectOf(const Request&) {
  return {};
}

}  // namespace pop::popdistd
