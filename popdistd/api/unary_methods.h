// SPDX-License-Identifier: Apache-2.0
// The methods of Controller and of Pods that have one answer, one line each: what carries them does so by
// these tables. Left out are those that take time (job_wait.h) and those that stream.
#pragma once

#include "popdistd/api/access_api.h"
#include "popdistd/api/api.h"
#include "popdistd/api/pods_api.h"

namespace pop::popdistd {

/// Calls `visit(name, method)` for each: its name in controller.proto and the member of Api.
template <typename Visit>
void forEachUnaryMethod(Visit&& visit) {
  visit("Submit", &Api::submit);
  visit("Get", &Api::get);
  visit("List", &Api::list);
  visit("CountJobs", &Api::countJobs);
  visit("Signal", &Api::signal);
  visit("Cancel", &Api::cancel);
  visit("Hold", &Api::hold);
  visit("Release", &Api::release);
  visit("Forget", &Api::forget);
  visit("ListHosts", &Api::listHosts);
  visit("GetHost", &Api::getHost);
  visit("Drain", &Api::drain);
  visit("Resume", &Api::resume);
  visit("RemoveHost", &Api::removeHost);
  visit("SetQuota", &Api::setQuota);
  visit("RemoveQuota", &Api::removeQuota);
  visit("ListQuotas", &Api::listQuotas);
  visit("About", &Api::about);
  visit("CheckStore", &Api::checkStore);
}

/// The same for PodsApi, by the names in pods.proto: Controller has none of them.
template <typename Visit>
void forEachUnaryPodsMethod(Visit&& visit) {
  visit("CreateCluster", &PodsApi::createCluster);
  visit("RemoveCluster", &PodsApi::removeCluster);
  visit("ListClusters", &PodsApi::listClusters);
  visit("CreateAgent", &PodsApi::createAgent);
  visit("RemoveAgent", &PodsApi::removeAgent);
  visit("ListAgents", &PodsApi::listAgents);
  visit("DrainAgent", &PodsApi::drainAgent);
  visit("ResumeAgent", &PodsApi::resumeAgent);
  visit("CreateAllocation", &PodsApi::createAllocation);
  visit("RemoveAllocation", &PodsApi::removeAllocation);
  visit("ListAllocations", &PodsApi::listAllocations);
  visit("ListPartitions", &PodsApi::listPartitions);
  visit("ReleasePartition", &PodsApi::releasePartition);
}

/// The same for AccessApi, by the names in access.proto.
template <typename Visit>
void forEachUnaryAccessMethod(Visit&& visit) {
  visit("CreateUser", &AccessApi::createUser);
  visit("ListUsers", &AccessApi::listUsers);
  visit("RemoveUser", &AccessApi::removeUser);
  visit("CreateToken", &AccessApi::createToken);
  visit("ListTokens", &AccessApi::listTokens);
  visit("RemoveToken", &AccessApi::removeToken);
  visit("ListAudit", &AccessApi::listAudit);
  visit("CheckAudit", &AccessApi::checkAudit);
}

}  // namespace pop::popdistd
