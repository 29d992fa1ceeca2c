// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/table.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace pop::bench {
namespace {

// Counts characters, not bytes: only the first byte of each UTF-8 sequence.
std::size_t widthOf(const std::string& cell) {
  return static_cast<std::size_t>(
      std::count_if(cell.begin(), cell.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string padded(const std::string& cell, std::size_t width, bool left) {
  const std::string padding(width - widthOf(cell), ' ');
  return left ? cell + padding : padding + cell;
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 3);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i)
      widths[i] = std::max(widths[i], widthOf(row[i]));
  }
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      text += "| " + padded(i < rows_[r].size() ? rows_[r][i] : "", widths[i], i == 0) + ' ';
    text += "|\n";
    if (r > 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i)
      text += i == 0 ? '|' + std::string(widths[i] + 2, '-') : '|' + std::string(widths[i] + 1, '-') + ':';
    text += "|\n";
  }
  return text;
}

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

}  // namespace pop::bench
