// SPDX-License-Identifier: Apache-2.0
#include "agent/core/hooks.h"

#include <array>
#include <utility>

namespace pop::agent {
namespace {

constexpr std::array<Hook, 3> kHooks{commandHook, environmentHook, directoryHook};

}  // namespace

Status commandHook(const HookContext& context, SpawnRequest& request) {
  request.argv = context.slice.command;
  return {};
}

Status environmentHook(const HookContext& context, SpawnRequest& request) {
  POP_ASSIGN_OR_RETURN(request.environment, contract::render(context.instance, context.slice.rendezvous));
  return {};
}

Status directoryHook(const HookContext& context, SpawnRequest& request) {
  request.working_directory = context.slice.working_directory;
  return {};
}

Result<SpawnRequest> prepareSpawn(const HookContext& context) {
  SpawnRequest request{.instance = context.instance.instance_index};
  for (const Hook hook : kHooks) POP_RETURN_IF_ERROR(hook(context, request));
  return request;
}

}  // namespace pop::agent
