// SPDX-License-Identifier: Apache-2.0
// The text that --version prints.
#pragma once

#include <string>

#include "poprun/plan/settings.h"

namespace pop {

std::string versionText(VersionFormat format);

}  // namespace pop
