// SPDX-License-Identifier: Apache-2.0
// Writes what this instance reports of itself into its page of the host's segment.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "common/contract/segment.h"

namespace popdist::context {

/// From any thread. The page is only written: what this process needs of it, it has here.
class Reporter {
 public:
  /// `header` outlives it.
  Reporter(pop::contract::SegmentHeader* header, int instance);

  bool isHeard() const { return header_->reports_wanted.load(std::memory_order_relaxed) != 0; }

  /// `name` has from 1 to 64 bytes, `value` is finite. False: the page has no room for another name.
  bool report(std::string_view name, double value, pop::contract::Fold fold);

 private:
  struct Name {
    std::uint32_t bytes = 0;
    std::array<char, pop::contract::kMostReportedNameBytes> text{};
  };

  bool isAt(std::uint32_t index, std::string_view name) const;
  bool add(std::string_view name, double value, pop::contract::Fold fold);

  pop::contract::SegmentHeader* const header_;
  pop::contract::ReportPage* page_ = nullptr;
  std::mutex adding_;
  std::atomic<std::uint32_t> count_{0};
  std::array<Name, pop::contract::kMostReportedNames> names_;  ///< those below count_ never change
};

}  // namespace popdist::context
