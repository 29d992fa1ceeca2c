// SPDX-License-Identifier: Apache-2.0
// Instances that are threads, each with an AsyncCommunicator of all of them.
#pragma once

#include <functional>
#include <set>

#include "popdist/async.hpp"
#include "popdist/error.hpp"
#include "tests/testing/thread_group.h"

namespace popdist::testing {

inline AsyncCommunicator everybody(Context& context) {
  std::set<unsigned> all;
  for (int instance = 0; instance < context.numInstances(); ++instance)
    all.insert(static_cast<unsigned>(instance));
  return AsyncCommunicator(context.createCommunicator(all));
}

inline void runMembers(ThreadGroup& group, const std::function<void(AsyncCommunicator&)>& body) {
  group.run([&](Context& context) {
    AsyncCommunicator members = everybody(context);
    body(members);
  });
}

/// What `call` throws; fails with kUnknown when it throws nothing.
inline popdist_error errorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const popdist_error& error) {
    return error;
  }
  return {ErrorCode::kUnknown, "nothing was thrown"};
}

}  // namespace popdist::testing
