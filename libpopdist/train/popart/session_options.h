// SPDX-License-Identifier: Apache-2.0
// Rules for options of a PopART session that exclude each other.
#pragma once

#include <string>

#include "common/base/status.h"
#include "popdist/popart_horovod.hpp"

namespace popdist::popart {

/// `replicas`: of this instance. kInvalidArgument naming both options and the way out.
pop::Status check(const SessionOptions& options, int replicas);

/// The text that instances compare.
std::string textOf(const SessionOptions& options);

}  // namespace popdist::popart
