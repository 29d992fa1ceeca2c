// SPDX-License-Identifier: Apache-2.0
// Collectives compiled ahead of their calls.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/collectives/context/context_state.h"
#include "libpopdist/pod/device/job_layout.h"
#include "libpopdist/pod/device/pod_call.h"
#include "libpopdist/pod/device/pod_environment.h"
#include "libpopdist/pod/device/programs.h"
#include "popdist/error.hpp"
#include "popdist/pod.hpp"

namespace popdist {
namespace {

using context::throwIfFailed;
using pod::CollectiveKind;

constexpr const char* kCompile = "Pod::compile";

CollectiveKind kindOf(PodOperation operation) {
  switch (operation) {
    case PodOperation::kAllReduce:
      return CollectiveKind::kAllReduce;
    case PodOperation::kReduceScatter:
      return CollectiveKind::kReduceScatter;
    case PodOperation::kAllGather:
      return CollectiveKind::kAllGather;
    case PodOperation::kAllToAll:
      return CollectiveKind::kAllToAll;
    case PodOperation::kBroadcast:
      break;
  }
  return CollectiveKind::kBroadcast;
}

}  // namespace

std::vector<PodCollective> Pod::compile(const Context& context, std::span<const PodProgram> programs) {
  pod::Programs across(pod::layoutOfJob(context, kCompile), pod::methodOfEnvironment(),
                       pod::cacheDirectory());
  const std::unique_ptr<pod::Programs> within = across.withinReplicas();
  if (!across.cache().isOpen())
    throw popdist_error(ErrorCode::kFailedPrecondition,
                        std::string(kCompile) +
                            ": there is no directory to store programs in: start the job with "
                            "poprun --executable-cache-path DIR");
  std::vector<PodCollective> reports;
  for (const PodProgram& each : programs) {
    const pod::PodCall call{.kind = kindOf(each.operation),
                            .count = each.count,
                            .type = each.type,
                            .options = each.options,
                            .root = each.root};
    const pod::CallRanks ranks =
        pod::ranksOf(call.options.scope, across.layout(), context.numLocalReplicas());
    throwIfFailed({pod::checkAllButTensors(call, ranks)}, kCompile);
    pod::Programs& compiler = ranks.are_ipus ? *within : across;
    pop::Result<pod::Program*> program = compiler.stored(pod::collectiveOf(call, ranks), call.options.method);
    throwIfFailed({program.status()}, kCompile);
    reports.push_back((*program)->report);
  }
  return reports;
}

}  // namespace popdist
