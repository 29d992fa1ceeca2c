// SPDX-License-Identifier: Apache-2.0
// A host's progress in receiving the files of a job.
#pragma once

#include <cstdint>

namespace pop::model {

enum class CopyState : std::uint8_t { kWaiting, kCopying, kDone, kFailed };

}  // namespace pop::model
