// SPDX-License-Identifier: Apache-2.0
// A table in Markdown, readable as it is.
#pragma once

#include <string>
#include <vector>

namespace pop::bench {

class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}

  /// A row may be shorter than the headings.
  void addRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// The first column is left-aligned, the others right-aligned.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the first one holds the headings
};

/// `value` with a fixed number of digits behind the point: "3.14".
std::string fixed(double value, int digits);

}  // namespace pop::bench
