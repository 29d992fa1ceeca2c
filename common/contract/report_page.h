// SPDX-License-Identifier: Apache-2.0
// Values that an instance reports of itself, such as its throughput: it writes them into its page of the
// host's segment, and the agent looks at them now and then, if a client listens. Writing takes no system
// call.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pop::contract {

inline constexpr std::size_t kMostReportedNames = 16;  ///< of an instance, and of a job
inline constexpr std::size_t kMostReportedNameBytes = 64;

/// Rule that folds the instances' values of one name into the job's value.
enum class Fold : std::uint8_t { kSum, kMean, kMax };
inline constexpr Fold kLastFold = Fold::kMax;

/// A name and its value. All but the value is written once, before the page's count includes it.
struct ReportSlot {
  std::atomic<std::uint64_t> value{0};  ///< the bits of a double
  std::uint32_t fold = 0;
  std::uint32_t name_bytes = 0;
  char name[kMostReportedNameBytes] = {};
};

struct ReportPage {
  alignas(64) std::atomic<std::uint32_t> count{0};
  ReportSlot slots[kMostReportedNames];
};
static_assert(sizeof(ReportPage) % 64 == 0);

/// Adds a name as number `index`, the next one. Only the page's instance calls it, one thread at a time.
inline void addReport(ReportPage& page, std::uint32_t index, std::string_view name, Fold fold, double value) {
  ReportSlot& slot = page.slots[index];
  slot.fold = static_cast<std::uint32_t>(fold);
  slot.name_bytes = static_cast<std::uint32_t>(name.size());
  std::memcpy(slot.name, name.data(), name.size());
  slot.value.store(std::bit_cast<std::uint64_t>(value), std::memory_order_relaxed);
  page.count.store(index + 1, std::memory_order_release);
}

inline void setReport(ReportPage& page, std::uint32_t index, double value) {
  page.slots[index].value.store(std::bit_cast<std::uint64_t>(value), std::memory_order_relaxed);
}

struct ReadReport {
  std::string name;
  Fold fold = Fold::kSum;
  double value = 0;

  friend bool operator==(const ReadReport&, const ReadReport&) = default;
};

/// The reports in a page, which any instance may have overwritten: without those that cannot be.
inline std::vector<ReadReport> readReports(const ReportPage& page) {
  std::vector<ReadReport> all;
  const std::size_t count =
      std::min<std::size_t>(page.count.load(std::memory_order_acquire), kMostReportedNames);
  for (std::size_t i = 0; i < count; ++i) {
    const ReportSlot& slot = page.slots[i];
    const auto value = std::bit_cast<double>(slot.value.load(std::memory_order_relaxed));
    const std::uint32_t fold = slot.fold;
    const std::size_t bytes = slot.name_bytes;
    if (fold > static_cast<std::uint32_t>(kLastFold) || bytes == 0 || bytes > kMostReportedNameBytes ||
        !std::isfinite(value))
      continue;
    all.push_back({{slot.name, bytes}, static_cast<Fold>(fold), value});
  }
  return all;
}

}  // namespace pop::contract
