// SPDX-License-Identifier: Apache-2.0
// How far a host is with getting the files of a job.
#pragma once

#include <cstdint>

namespace pop::model {

enum class CopyState : std::uint8_t { kWaiting, kCopying, kDone, kFailed };

}  // namespace pop::model
