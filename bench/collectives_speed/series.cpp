// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/series.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

namespace pop::bench::collectives {
namespace {

constexpr std::string_view kBegin = R"({"type": "series", "name": ")";
constexpr std::string_view kValues = R"(", "values": [)";
constexpr std::string_view kEnd = "]}";

std::optional<std::vector<double>> numbersIn(std::string_view text) {
  std::vector<double> numbers;
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with(", ")) text.remove_prefix(2);
  }
  return numbers;
}

}  // namespace

std::string seriesLine(std::string_view name, std::span<const double> values) {
  std::string line = std::string(kBegin).append(name).append(kValues);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%s%.6g", i == 0 ? "" : ", ", values[i]);
    line += digits.data();
  }
  return line.append(kEnd);
}

std::vector<Series> seriesIn(std::string_view output) {
  std::vector<Series> found;
  for (std::size_t at = output.find(kBegin); at != std::string_view::npos; at = output.find(kBegin, at + 1)) {
    const std::size_t name = at + kBegin.size();
    const std::size_t values = output.find(kValues, name);
    const std::size_t end = output.find(kEnd, name);
    if (values == std::string_view::npos || end == std::string_view::npos || end < values) continue;
    const std::size_t first = values + kValues.size();
    if (auto numbers = numbersIn(output.substr(first, end - first)))
      found.push_back({std::string(output.substr(name, values - name)), std::move(*numbers)});
  }
  return found;
}

}  // namespace pop::bench::collectives
