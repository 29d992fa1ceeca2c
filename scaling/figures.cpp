// SPDX-License-Identifier: Apache-2.0
#include "scaling/figures.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace pop::scaling {
namespace {

std::string fixed(double number, int decimals) {
  std::array<char, 400> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed, decimals);
  return error == std::errc() ? std::string(text.data(), end) : "?";
}

std::string padded(const std::string& text, std::size_t width, bool to_the_left) {
  const std::string blanks(width - text.size(), ' ');
  return to_the_left ? text + blanks : blanks + text;
}

}  // namespace

std::string figure(double number) {
  if (!std::isfinite(number)) return number > 0 ? "no limit" : "?";
  const double size = std::abs(number);
  if (size == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
  return fixed(number, std::clamp(3 - before, 0, 9));
}

std::string timeText(double seconds) {
  if (seconds < 1e-3) return figure(seconds * 1e6) + " us";
  return seconds < 1 ? figure(seconds * 1e3) + " ms" : figure(seconds) + " s";
}

std::string percentText(double share) {
  return fixed(100 * share, share < 0.0095 && share > 0 ? 1 : 0) + " %";
}

std::string tableOf(const std::vector<std::vector<std::string>>& rows, bool names) {
  std::vector<std::size_t> widths(rows.front().size(), 3);
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto isLeft = [&](std::size_t column) { return names && column == 0; };
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) text += "| " + padded(row[i], widths[i], isLeft(i)) + " ";
    text += "|\n";
    if (&row != &rows.front()) continue;
    for (std::size_t i = 0; i < widths.size(); ++i)
      text += "|" +
              (isLeft(i) ? " " + std::string(widths[i], '-') + " " : " " + std::string(widths[i], '-') + ":");
    text += "|\n";
  }
  return text;
}

}  // namespace pop::scaling
