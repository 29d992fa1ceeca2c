// SPDX-License-Identifier: Apache-2.0
// What goes into starting an instance, as a list of hooks in order: each adds its part to the SpawnRequest
// (data). A new behaviour at start (limits, binding, devices) is a new hook.
#pragma once

#include "agent/core/ports.h"
#include "common/base/status.h"

namespace pop::agent {

struct HookContext {
  const JobSlice& slice;
  const InstanceOrder& order;
};

using Hook = Status (*)(const HookContext&, SpawnRequest&);

Status commandHook(const HookContext& context, SpawnRequest& request);      ///< program and arguments
Status environmentHook(const HookContext& context, SpawnRequest& request);  ///< the environment contract
Status directoryHook(const HookContext& context, SpawnRequest& request);    ///< working directory

/// The request for one instance, or the first hook's error.
Result<SpawnRequest> prepareSpawn(const HookContext& context);

}  // namespace pop::agent
