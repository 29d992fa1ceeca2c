// SPDX-License-Identifier: Apache-2.0
// Asynchronous calls of all instances, for training.
#pragma once

#include <set>

#include "common/base/status.h"
#include "popdist/async.hpp"
#include "popdist/context.hpp"

namespace popdist::async {

/// A communicator of all instances. Collective; costs and throws as Context::createCommunicator and
/// AsyncCommunicator.
inline AsyncCommunicator everybody(Context& context) {
  std::set<unsigned> instances;
  for (int i = 0; i < context.numInstances(); ++i) instances.insert(static_cast<unsigned>(i));
  return AsyncCommunicator(context.createCommunicator(instances));
}

/// Ends it, here and on the other members: calls that wait get `why`, of a failure on `instance`. Local.
void abort(AsyncCommunicator& communicator, const pop::Status& why, int instance);

/// Before its first call, on all members: they will issue the same calls in the same order, so that other
/// ones are an error, and end it.
void expectOrder(AsyncCommunicator& communicator);

}  // namespace popdist::async
