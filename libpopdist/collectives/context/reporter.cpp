// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/context/reporter.h"

#include <cstring>

namespace popdist::context {

Reporter::Reporter(pop::contract::SegmentHeader* header, int instance) : header_(header) {
  const auto self = static_cast<std::size_t>(instance);
  const std::size_t instances = *const_cast<const volatile std::uint32_t*>(&header->instances);  // once
  if (self < instances) page_ = &pop::contract::reportPagesOf(header, instances)[self];
}

bool Reporter::isAt(std::uint32_t index, std::string_view name) const {
  const Name& known = names_[index];
  return known.bytes == name.size() && std::memcmp(known.text.data(), name.data(), name.size()) == 0;
}

bool Reporter::report(std::string_view name, double value, pop::contract::Fold fold) {
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!isAt(i, name)) continue;
    pop::contract::setReport(*page_, i, value);
    return true;
  }
  return add(name, value, fold);
}

// Another thread may have added it meanwhile.
bool Reporter::add(std::string_view name, double value, pop::contract::Fold fold) {
  const std::lock_guard lock(adding_);
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (isAt(i, name)) return pop::contract::setReport(*page_, i, value), true;
  }
  if (page_ == nullptr || count == names_.size()) return false;
  names_[count].bytes = static_cast<std::uint32_t>(name.size());
  std::memcpy(names_[count].text.data(), name.data(), name.size());
  pop::contract::addReport(*page_, count, name, fold, value);
  count_.store(count + 1, std::memory_order_release);
  return true;
}

}  // namespace popdist::context
