// SPDX-License-Identifier: Apache-2.0
// Facts that all instances of a cluster must agree on, and the introduction of an instance by them.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/contract/frame.h"

namespace popdist::cluster {

struct Roster {
  std::vector<std::string> workers;  ///< the address of each instance
  std::vector<std::string> tasks;    ///< each one's name: "chief:0", "worker:0"
  std::string options;               ///< as people read them: "1 replica of 1 IPU"

  int size() const { return static_cast<int>(workers.size()); }
  /// "instance 1 (worker:1 at b:3737)"
  std::string nameOf(int instance) const;
  std::vector<std::string> names() const;
};

/// A process of the cluster.
struct Member {
  int instance = -1;
  std::string process;  ///< "pid 712 on b"
};

/// The hello of this process as `instance`.
pop::contract::Frame helloOf(const Roster& roster, int instance);

/// The sender of `hello`, which may be any process. kInvalidArgument: no instance of any cluster.
/// kFailedPrecondition: of another one, or of another version; the text names the difference.
pop::Result<Member> memberOf(const Roster& roster, const pop::contract::Frame& hello);

}  // namespace popdist::cluster
