// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/json_line.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "common/base/json.h"

namespace pop::bench {

JsonLine& JsonLine::add(std::string_view name, std::string_view value) {
  return addVerbatim(name, jsonQuoted(value));
}

JsonLine& JsonLine::add(std::string_view name, double value) {
  if (!std::isfinite(value)) return addNull(name);
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.6g", value);
  return addVerbatim(name, digits.data());
}

JsonLine& JsonLine::add(const Summary& summary, std::string_view unit) {
  const std::string suffix = unit.empty() ? "" : '_' + std::string(unit);
  add("median" + suffix, summary.median).add("min" + suffix, summary.min).add("max" + suffix, summary.max);
  return add("lower_quartile" + suffix, summary.lower_quartile)
      .add("upper_quartile" + suffix, summary.upper_quartile);
}

JsonLine& JsonLine::addVerbatim(std::string_view name, std::string_view value) {
  if (!fields_.empty()) fields_ += ", ";
  fields_ += jsonQuoted(name) + ": ";
  fields_ += value;
  return *this;
}

}  // namespace pop::bench
