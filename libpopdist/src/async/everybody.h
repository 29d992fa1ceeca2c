// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "popdist/async.hpp"
#include "popdist/context.hpp"

namespace popdist::async {

/// Of all instances. Collective; costs and throws as Context::createCommunicator and AsyncCommunicator.
inline AsyncCommunicator everybody(Context& context) {
  std::set<unsigned> instances;
  for (int i = 0; i < context.numInstances(); ++i) instances.insert(static_cast<unsigned>(i));
  return AsyncCommunicator(context.createCommunicator(instances));
}

}  // namespace popdist::async
