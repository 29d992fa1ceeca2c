// SPDX-License-Identifier: Apache-2.0
// Instances that are threads, each with an AsyncCommunicator of all of them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "popdist/async.hpp"
#include "popdist/error.hpp"
#include "tests/testing/thread_group.h"

namespace popdist::testing {

/// Of members that share memory, all of them, none, or those of one host.
struct MembersShape {
  int members;
  bool tcp_only = false;
  int instances_per_host = 0;  ///< 0: all on one

  GroupShape group() const {
    return {.replicas_of_instance = std::vector<int>(static_cast<std::size_t>(members), 1),
            .transport = {.tcp_only = tcp_only},
            .instances_per_host = instances_per_host};
  }
};

inline std::string nameOf(const MembersShape& shape) {
  return std::to_string(shape.members) + (shape.tcp_only ? "OverTcp" : "") +
         (shape.instances_per_host > 0 ? "On" + std::to_string(shape.instances_per_host) + "AHost" : "");
}
inline void PrintTo(const MembersShape& shape, std::ostream* out) {
  *out << nameOf(shape);
}

inline std::string nameOfShape(const ::testing::TestParamInfo<MembersShape>& info) {
  return nameOf(info.param);
}

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
