// SPDX-License-Identifier: Apache-2.0
// The program's own activities, beside what libpopdist says of trainings, in the trace of a run.
//
//   { const popdist::Span span("decode"); decode(batch); }      // POPDIST_TRACE=DIRECTORY poprun … program
#pragma once

#include <chrono>
#include <string_view>

#include "popdist/cxx20.hpp"

namespace popdist {

/// From its construction to the end of its scope this thread does `name`: a bar on the thread's track in the
/// file of this instance, in the directory that POPDIST_TRACE names (docs/guide/scaling.md). Spans of a
/// thread may contain each other. From any thread, also without a Context; in a forked child it does nothing.
/// Cost: some 3 ns without the variable, half a microsecond with it. Nothing fails: what cannot be
/// written is said once on stderr.
class [[nodiscard]] Span {
 public:
  /// The text must live as long as this. Bytes that are not UTF-8 are shown as U+FFFD.
  explicit Span(std::string_view name);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  const std::string_view name_;
  const std::chrono::steady_clock::time_point begin_;
};

}  // namespace popdist
