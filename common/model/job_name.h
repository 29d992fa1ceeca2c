// SPDX-License-Identifier: Apache-2.0
// Names that users give to jobs.
#pragma once

#include <string_view>

namespace pop::model {

/// Letters, digits, '.', '_' and '-', at most 64, and not only digits: those are numbers of jobs.
bool isJobName(std::string_view text);

}  // namespace pop::model
