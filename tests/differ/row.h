// SPDX-License-Identifier: Apache-2.0
// A call of the public API with one argument that is another on one of the instances.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "popdist/context.hpp"

namespace popdist::testing {

/// Makes the call; `differs` on one instance.
using Call = std::function<void(bool differs)>;

/// The moment when instances get the error.
enum class Heard {
  kAtOnce,      ///< in that call
  kInNextCall,  ///< over hosts, a member whose part was done already when it next waits for others; else at
                ///< once
  kAtDeadline,  ///< no rank can know that the others do not come any more
};

struct Row {
  std::string call;
  std::string argument;
  std::string others;  ///< its value on the other instances
  std::string one;     ///< on the one that differs
  /// Words that the error has on all instances; none: instances may differ in it.
  std::vector<std::string> named;
  /// Makes what the call is of. Collective.
  std::function<Call(Context& context)> begin;
  Heard heard = Heard::kAtOnce;
};
using Rows = std::vector<Row>;

/// The call is body(subject, differs), of a Subject that is made from the context.
template <typename Subject, typename Body>
std::function<Call(Context&)> on(Body body) {
  return [body](Context& context) -> Call {
    const auto subject = std::make_shared<Subject>(context);
    return [subject, body](bool differs) { body(*subject, differs); };
  };
}

/// The call is body(context, differs).
template <typename Body>
std::function<Call(Context&)> onContext(Body body) {
  return
      [body](Context& context) -> Call { return [&context, body](bool differs) { body(context, differs); }; };
}

inline bool waitsForDeadline(const Row& row) {
  return row.heard == Heard::kAtDeadline;
}

Rows communicatorRows();
Rows byNameRows();
Rows crossingRows();
Rows checkpointRows();
Rows trainerRows();
Rows dataRows();
Rows pipelineRows();
Rows strategyRows();

/// All rows of all.
Rows joined(const std::vector<Rows>& all);
/// All there are.
Rows allRows();
std::string nameOf(const Row& row);

/// The calls of one instance: `before` equal ones come first. Throws popdist_error, or nothing.
void make(const Row& row, Context& context, bool differs, int before);

}  // namespace popdist::testing
