// SPDX-License-Identifier: Apache-2.0
// Prepares the start of an instance, by a list of hooks in order: each adds its part to the SpawnRequest
// (data). A new behaviour at start (limits, binding, devices) is a new hook.
#pragma once

#include <set>
#include <string>

#include "agent/core/ports.h"
#include "common/base/status.h"

namespace pop::agent {

/// Names of environment variables.
using VariableNames = std::set<std::string>;
inline const VariableNames kNoVariables;

struct HookContext {
  const JobSlice& slice;
  const InstanceOrder& order;
  const VariableNames& inherited = kNoVariables;  ///< variables that the instance has by default
};

using Hook = Status (*)(const HookContext&, SpawnRequest&);

Status commandHook(const HookContext& context, SpawnRequest& request);      ///< program and arguments
Status environmentHook(const HookContext& context, SpawnRequest& request);  ///< the environment contract
Status directoryHook(const HookContext& context, SpawnRequest& request);    ///< working directory
Status bindHook(const HookContext& context, SpawnRequest& request);         ///< CPUs and memory nodes
Status threadsHook(const HookContext& context, SpawnRequest& request);      ///< OMP_NUM_THREADS

/// Returns the request for one instance, or the first hook's error.
Result<SpawnRequest> prepareSpawn(const HookContext& context);

}  // namespace pop::agent
