// SPDX-License-Identifier: Apache-2.0
// Ways in which the IPU-Links of a partition can be configured, and the replicas that each allows: the rules
// of poplibs (lib/popops/ReplicatedCollectives.cpp, January 2021) and the words of V-IPU and
// POPLAR_TARGET_OPTIONS.
#pragma once

#include <string_view>

#include "pod/system/pod_spec.h"

namespace pop::pod {

enum class LinkConfiguration : std::uint8_t {
  kDefault,        ///< "default", V-IPU's DNC: 1, 2, 4, 8 or more IPUs a replica
  kSlidingWindow,  ///< "slidingWindow", SWNC, on a torus RINGSWNC: 1 or 2 IPUs a replica, on a torus also 4
  kBarleyTwist,    ///< "barleyTwist", BTNC: 1 IPU a replica, and the wiring of a barley twist
};

/// As POPLAR_TARGET_OPTIONS spells it ("ipuLinkConfiguration").
std::string_view nameOf(LinkConfiguration configuration);

/// kInvalidArgument if replicas of so many IPUs cannot run on this topology so configured; the message says
/// what can.
Status checkLinkConfiguration(LinkConfiguration configuration, IldTopology topology, int ipus_per_replica);

std::string_view nameOf(IldTopology topology);  ///< "mesh", "torus", "barley-twist"

}  // namespace pop::pod
