// SPDX-License-Identifier: Apache-2.0
// GCL_OPTIONS: a JSON object of GCL's options (gcl-user-guide, release notes 3.0 and 3.1).
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"

namespace pop::pod {

inline constexpr std::string_view kAutomatic = "auto";
/// GCL does not have it: the least simulated time of all known ways.
inline constexpr std::string_view kQuickest = "quickest";
inline constexpr std::string_view kMethodNames =
    "auto, quickest, clockwise_ring, anticlockwise_ring, bidirectional_ring_pair, meet_in_middle_ring or "
    "quad_directional_ring";

/// True if it is one of these.
bool isMethod(std::string_view name);

/// The method of these options; empty text has none: kAutomatic. syncful.useOptimisedLayout must be true or
/// false, other options of GCL that say how it uses tiles and memory are checked by name alone: none of them
/// changes anything here. kInvalidArgument names the option that is unknown, or its value.
Result<std::string> methodOfGclOptions(std::string_view json);

}  // namespace pop::pod
