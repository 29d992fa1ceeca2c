// SPDX-License-Identifier: Apache-2.0
// The system of a job, as it travels with the job and as its instances find it in POPDIST_SYSTEM: a preset's
// name, or a system's text on one line (systemLine()), or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "pod/system/pod_spec.h"

namespace pop::pod {

/// The most bytes of a system's text: it is a variable of each instance, of which Linux passes on at most 128
/// KiB.
inline constexpr std::size_t kMaxJobSystemBytes = 32768;

/// The named or described system, or if `system` is empty the smallest Mk2 preset with `ipus` IPUs. `from` is
/// for messages. kInvalidArgument as podSpecByName(), systemFromText() and smallestPodFor(), or for a text of
/// more than kMaxJobSystemBytes. The text may be hostile.
Result<PodSpec> jobSystem(std::string_view system, std::string_view from, std::int64_t ipus);

/// True for the name of a system file in the place of a preset's: it has a slash or ends with ".system".
bool isSystemFile(std::string_view name);

}  // namespace pop::pod
