// SPDX-License-Identifier: Apache-2.0
#include "pod/system/link_configuration.h"

#include <string>

#include "common/base/text.h"

namespace pop::pod {
namespace {

std::string allowedIpus(LinkConfiguration configuration, IldTopology topology) {
  switch (configuration) {
    case LinkConfiguration::kDefault:
      return "1, 2, 4, 8 or more IPUs";
    case LinkConfiguration::kSlidingWindow:
      return topology == IldTopology::kTorus ? "1, 2 or 4 IPUs" : "1 or 2 IPUs";
    case LinkConfiguration::kBarleyTwist:
      return "1 IPU";
  }
  return {};
}

bool isAllowed(LinkConfiguration configuration, IldTopology topology, int ipus) {
  switch (configuration) {
    case LinkConfiguration::kDefault:
      return ipus == 1 || ipus == 2 || ipus == 4 || ipus >= 8;
    case LinkConfiguration::kSlidingWindow:
      return ipus == 1 || ipus == 2 || (ipus == 4 && topology == IldTopology::kTorus);
    case LinkConfiguration::kBarleyTwist:
      return ipus == 1;
  }
  return false;
}

}  // namespace

std::string_view nameOf(LinkConfiguration configuration) {
  switch (configuration) {
    case LinkConfiguration::kDefault:
      return "default";
    case LinkConfiguration::kSlidingWindow:
      return "slidingWindow";
    case LinkConfiguration::kBarleyTwist:
      return "barleyTwist";
  }
  return {};
}

Status checkLinkConfiguration(LinkConfiguration configuration, IldTopology topology, int ipus_per_replica) {
  const bool twists = configuration == LinkConfiguration::kBarleyTwist;
  if (twists != (topology == IldTopology::kBarleyTwist))
    return invalidArgument("link configuration " + std::string(nameOf(configuration)) + " on a " +
                           std::string(nameOf(topology)) +
                           ": barleyTwist goes with the topology barley-twist, and no other does");
  if (isAllowed(configuration, topology, ipus_per_replica)) return {};
  return invalidArgument("replicas of " + counted(ipus_per_replica, "IPU") + " with link configuration " +
                         std::string(nameOf(configuration)) + " on a " + std::string(nameOf(topology)) +
                         ": use " + allowedIpus(configuration, topology) + " per replica");
}

std::string_view nameOf(IldTopology topology) {
  switch (topology) {
    case IldTopology::kMesh:
      return "mesh";
    case IldTopology::kTorus:
      return "torus";
    case IldTopology::kBarleyTwist:
      return "barley-twist";
  }
  return {};
}

}  // namespace pop::pod
