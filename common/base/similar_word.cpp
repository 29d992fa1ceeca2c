// SPDX-License-Identifier: Apache-2.0
#include "common/base/similar_word.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace pop {
namespace {

// The number of letters to insert, remove or replace to turn one word into the other.
std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string_view similarWord(std::string_view word, std::span<const std::string_view> words) {
  if (word.size() < 3) return {};
  std::string_view best;
  std::size_t best_distance = word.size() / 5 + 2;  // beyond, it is another word
  for (const std::string_view each : words) {
    const std::size_t distance = editDistance(word, each);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = each;
  }
  return best;
}

}  // namespace pop
