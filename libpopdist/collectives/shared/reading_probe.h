// SPDX-License-Identifier: Apache-2.0
// Finds out whether the ranks of a communicator may read each other's private memory. A container's system
// call filter, ptrace_scope, user namespaces and more may forbid it to some of them, so each rank reads from
// each other rank once, and all learn the results.
#pragma once

#include <optional>

#include "libpopdist/collectives/shared/engine.h"

namespace popdist::shared {

class ReadingProbe {
 public:
  ReadingProbe(Meeting& meeting, Engine& engine) : meeting_(meeting), engine_(engine) {}

  /// Finds out, on the first call, in two meetings as parts of `call`. All ranks must call it. False: a
  /// meeting failed.
  bool ask(const Call& call);
  bool asked() const { return allowed_.has_value(); }

  /// The answer: every rank can read from every other. The same on all ranks; false before ask().
  bool allowed() const { return allowed_.value_or(false); }

 private:
  Meeting& meeting_;
  Engine& engine_;
  std::optional<bool> allowed_;
};

}  // namespace popdist::shared
