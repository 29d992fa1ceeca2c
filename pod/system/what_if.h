// SPDX-License-Identifier: Apache-2.0
// A system with changes: cables that are out, slow IPUs, another topology.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pod/system/pod_spec.h"

namespace pop::pod {

/// Takes the links between two nodes out, in both directions. kInvalidArgument, and nothing has changed:
/// there is none. kResourceExhausted: 64 pairs are out already.
Status removeLinks(PodSpec& spec, std::string_view node, std::string_view other);

/// The IPU computes `factor` times as fast, 0.001 to 1000. kInvalidArgument, and nothing has changed: it is
/// no IPU, has a speed already, or the factor is out of range.
Status setSpeed(PodSpec& spec, std::string_view ipu, double factor);

/// kInvalidArgument: a word that is no topology; the message lists them.
Result<IldTopology> ildTopologyNamed(std::string_view name);

struct WhatIf {
  std::vector<std::pair<std::string, std::string>> removed_links;
  std::vector<std::pair<std::string, double>> speeds;
  std::optional<IldTopology> topology;

  bool any() const { return !removed_links.empty() || !speeds.empty() || topology.has_value(); }
};

/// The system so changed. kInvalidArgument: a change that cannot be, or that leaves IPUs joined to no others.
Result<PodSpec> changed(PodSpec spec, const WhatIf& what_if);

}  // namespace pop::pod
