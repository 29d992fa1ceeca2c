// SPDX-License-Identifier: Apache-2.0
// One JSON object on one line: the benchmarks' output format for other programs.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "bench/harness/statistics.h"

namespace pop::bench {

class JsonLine {
 public:
  /// The field "type" of every line says what it contains.
  explicit JsonLine(std::string_view type) { add("type", type); }

  JsonLine& add(std::string_view name, std::string_view value);
  JsonLine& add(std::string_view name, const char* value) { return add(name, std::string_view(value)); }
  /// JSON has no NaN and no infinities: they become null.
  JsonLine& add(std::string_view name, double value);
  template <std::integral T>
  JsonLine& add(std::string_view name, T value) {
    if constexpr (std::same_as<T, bool>)
      return addVerbatim(name, value ? "true" : "false");
    else
      return addVerbatim(name, std::to_string(value));
  }
  /// Adds the median, the extremes and the quartiles, as "median_ms" with a unit.
  JsonLine& add(const Summary& summary, std::string_view unit = {});
  JsonLine& addNull(std::string_view name) { return addVerbatim(name, "null"); }

  /// The object, without a line feed.
  std::string text() const { return '{' + fields_ + '}'; }

 private:
  JsonLine& addVerbatim(std::string_view name, std::string_view value);

  std::string fields_;
};

}  // namespace pop::bench
