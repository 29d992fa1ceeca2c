// SPDX-License-Identifier: Apache-2.0
#include "agent/core/hooks.h"

#include <array>
#include <utility>

namespace pop::agent {
namespace {

constexpr std::array<Hook, 3> kHooks{commandHook, environmentHook, directoryHook};

const model::Program& programOf(const HookContext& context) {
  return context.slice.programs.at(static_cast<std::size_t>(context.order.program));
}

}  // namespace

Status commandHook(const HookContext& context, SpawnRequest& request) {
  request.argv = programOf(context).command;
  return {};
}

Status environmentHook(const HookContext& context, SpawnRequest& request) {
  POP_ASSIGN_OR_RETURN(request.environment, contract::render(context.order.env, context.slice.rendezvous));
  return {};
}

Status directoryHook(const HookContext& context, SpawnRequest& request) {
  request.working_directory = programOf(context).working_directory;
  return {};
}

Result<SpawnRequest> prepareSpawn(const HookContext& context) {
  SpawnRequest request{.instance = context.order.env.instance_index};
  for (const Hook hook : kHooks) POP_RETURN_IF_ERROR(hook(context, request));
  return request;
}

}  // namespace pop::agent
