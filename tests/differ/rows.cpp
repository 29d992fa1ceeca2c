// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "tests/differ/row.h"

namespace popdist::testing {

Rows allRows() {
  Rows all;
  for (const Rows& rows : {communicatorRows(), byNameRows(), crossingRows(), checkpointRows(), trainerRows(),
                           dataRows(), pipelineRows(), strategyRows()})
    all.insert(all.end(), rows.begin(), rows.end());
  // Those that somebody works on.
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
