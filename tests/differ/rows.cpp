// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "tests/differ/row.h"

namespace popdist::testing {

Rows joined(const std::vector<Rows>& all) {
  Rows rows;
  for (const Rows& each : all) rows.insert(rows.end(), each.begin(), each.end());
  return rows;
}

Rows allRows() {
  Rows all = joined({communicatorRows(), byNameRows(), crossingRows(), checkpointRows(), trainerRows(),
                     dataRows(), pipelineRows(), strategyRows()});
  // POP_DIFFER selects rows by a part of their name.
  if (const char* const part = std::getenv("POP_DIFFER"))
    std::erase_if(all, [part](const Row& row) { return nameOf(row).find(part) == std::string::npos; });
  return all;
}

std::string nameOf(const Row& row) {
  return row.call + ": " + row.argument + " (" + row.others + ", " + row.one + ')';
}

void make(const Row& row, Context& context, bool differs, int before) {
  const Call call = row.begin(context);
  for (int i = 0; i < before; ++i) call(false);
  call(differs);
  if (row.heard == Heard::kInNextCall) call(false);
}

}  // namespace popdist::testing
