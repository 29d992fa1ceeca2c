// SPDX-License-Identifier: Apache-2.0
// The rank that writes the lines of a stage last.
#pragma once

namespace popdist::shared {

/// True if a rank that has read something in another rank's stage should write there, either what it read or
/// its result. AMD processors write to a line that another core has only read at a tenth to a third of their
/// usual speed. If the reader writes the line, its owner later gets it back exclusively together with the
/// data, which costs the reader next to nothing. Other processors have not been measured.
inline bool writingBackPays() {
#ifdef __x86_64__
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

/// Several ranks may write back the same bytes at once, which ThreadSanitizer cannot know.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kMayWriteBack = false;
#else
inline constexpr bool kMayWriteBack = true;
#endif

}  // namespace popdist::shared
