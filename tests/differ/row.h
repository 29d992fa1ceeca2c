// SPDX-License-Identifier: Apache-2.0
// A call of the public API with one argument that is another on one of the instances.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "popdist/context.hpp"

namespace popdist::testing {

struct Row {
  std::string call;
  std::string argument;
  std::string others;  ///< its value on the other instances
  std::string one;     ///< on the one that differs
  bool later = false;  ///< an equal call has come before
  /// Words that the error has on all instances; none: instances may differ in it.
  std::vector<std::string> named;
  /// Makes the call; `differs` on one instance.
  std::function<void(Context& context, bool differs)> run;
  /// By messages, those whose part is done already hear of it in their next call.
  bool by_messages = true;
};
using Rows = std::vector<Row>;

Rows collectiveRows();
Rows dataRows();
Rows trainingRows();

}  // namespace popdist::testing
