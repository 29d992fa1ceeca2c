// SPDX-License-Identifier: Apache-2.0
// Who writes the lines of a stage last.
#pragma once

namespace popdist::shared {

/// Whether a rank that has read something in another's stage should write there: what it has read, or what
/// has come of it. AMD's processors write to a line that another core has only read at a tenth to a third of
/// the speed at which they write to one that it has written: its owner has that back, exclusively, with the
/// data. What the reader pays for it is next to nothing. Other processors have not been measured.
inline bool writingBackPays() {
#ifdef __x86_64__
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

/// Several may write back at once, all the same bytes, which ThreadSanitizer cannot know.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kMayWriteBack = false;
#else
inline constexpr bool kMayWriteBack = true;
#endif

}  // namespace popdist::shared
