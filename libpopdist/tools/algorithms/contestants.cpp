// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/algorithms/contestants.h"

#include <set>

#include "libpopdist/collectives/api/context_impl.h"
#include "popdist/error.hpp"

namespace popdist::algorithms {
namespace {

using choice::ForcedAlgorithms;
using choice::SharedAlgorithm;

std::set<unsigned> everybody(const Context& context) {
  std::set<unsigned> instances;
  for (int instance = 0; instance < context.numInstances(); ++instance)
    instances.insert(static_cast<unsigned>(instance));
  return instances;
}

}  // namespace

Contestants::Contestants(Context& context) {
  const std::string& backend = context.impl().state.backend.name;
  if (context.impl().state.backend.plugin != nullptr) {
    throw popdist_error(ErrorCode::kFailedPrecondition,
                        "communicators run on the backend '" + backend +
                            "' (POPDIST_BACKEND), which has no table of algorithms");
  }
  add(context, {});
  if (shareMemory()) {
    for (const SharedAlgorithm each : {SharedAlgorithm::kEager, SharedAlgorithm::kStaged,
                                       SharedAlgorithm::kDirect, SharedAlgorithm::kPull})
      add(context, {.in_memory = each});
    add(context, {.messages = true});
    return;
  }
  // Only all-reduce has a choice: other operations have one algorithm.
  for (const choice::Algorithm each : choice::algorithmsOf(plan::Operation::kAllReduce))
    add(context, {.messages = true, .by_messages = each});
}

void Contestants::add(Context& context, const ForcedAlgorithms& forced) {
  context.impl().state.forced = forced;
  all_.push_back(context.createCommunicator(everybody(context)));
  context.impl().state.forced.reset();
}

bool Contestants::shareMemory() const {
  return all_.front()->impl().group().path().sharesMemory();
}

std::string Contestants::taken(Communicator& contestant) const {
  const bool by_messages = !contestant.impl().group().path().sharesMemory();
  const std::string name = contestant.impl().group().path().algorithmTaken();
  return by_messages && shareMemory() ? "messages" : name;
}

}  // namespace popdist::algorithms
