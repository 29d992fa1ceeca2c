// SPDX-License-Identifier: Apache-2.0
// Whether the ranks of a communicator may read each other's private memory. A container's filter of system
// calls, ptrace_scope, user namespaces and more may forbid it, to some of them: so everybody reads from
// everybody once, and all learn what came of it.
#pragma once

#include <optional>

#include "libpopdist/src/shared/engine.h"

namespace popdist::choice {

class ReadingProbe {
 public:
  ReadingProbe(shared::Meeting& meeting, shared::Engine& engine) : meeting_(meeting), engine_(engine) {}

  /// Finds out, the first time, in two meetings as parts of `call`, in which all ranks must ask. False: the
  /// meeting has failed.
  bool ask(const shared::Call& call);
  bool asked() const { return allowed_.has_value(); }

  /// The answer, the same on all ranks: each can read from each. False before anybody has asked.
  bool allowed() const { return allowed_.value_or(false); }

 private:
  shared::Meeting& meeting_;
  shared::Engine& engine_;
  std::optional<bool> allowed_;
};

}  // namespace popdist::choice
