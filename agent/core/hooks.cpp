// SPDX-License-Identifier: Apache-2.0
#include "agent/core/hooks.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pop::agent {
namespace {

constexpr std::array<Hook, 5> kHooks{commandHook, environmentHook, directoryHook, bindHook, threadsHook};

const model::Program& programOf(const HookContext& context) {
  return context.slice.programs.at(static_cast<std::size_t>(context.order.program));
}

}  // namespace

Status commandHook(const HookContext& context, SpawnRequest& request) {
  request.argv = programOf(context).command;
  return {};
}

Status environmentHook(const HookContext& context, SpawnRequest& request) {
  const JobSlice& slice = context.slice;
  POP_ASSIGN_OR_RETURN(request.environment,
                       contract::renderEnvironment({.env = context.order.env,
                                                    .place = context.order.place,
                                                    .rendezvous = slice.rendezvous,
                                                    .poplar = slice.poplar,
                                                    .families = slice.env_families,
                                                    .job = slice.environment,
                                                    .program = programOf(context).environment}));
  return {};
}

Status directoryHook(const HookContext& context, SpawnRequest& request) {
  request.working_directory = programOf(context).working_directory;
  return {};
}

Status bindHook(const HookContext& context, SpawnRequest& request) {
  request.binding = context.order.binding;
  return {};
}

// Without this, OpenMP and the libraries that read its variable would start a thread for each CPU of the host
// in every instance.
Status threadsHook(const HookContext& context, SpawnRequest& request) {
  const std::string name = "OMP_NUM_THREADS";
  const auto sets = [&name](const std::vector<contract::Variable>& variables) {
    return std::any_of(variables.begin(), variables.end(),
                       [&name](const contract::Variable& variable) { return variable.first == name; });
  };
  if (!context.slice.env_families.contains(contract::EnvFamily::kOpenMp)) return {};
  if (context.inherited.contains(name) || sets(context.slice.environment) ||
      sets(programOf(context).environment)) {
    return {};  // the user knows better
  }
  request.environment.emplace_back(name, std::to_string(context.order.binding.threads));
  return {};
}

Result<SpawnRequest> prepareSpawn(const HookContext& context) {
  SpawnRequest request{.instance = context.order.env.instance_index};
  for (const Hook hook : kHooks) POP_RETURN_IF_ERROR(hook(context, request));
  return request;
}

}  // namespace pop::agent
