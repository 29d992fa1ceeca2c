// SPDX-License-Identifier: Apache-2.0
// What calls of a group throw.
#pragma once

#include <string>
#include <utility>

#include "libpopdist/src/group/collective_call.h"
#include "popdist/error.hpp"

namespace popdist::group {

/// A call of a group, for errors.
struct CallDescription {
  std::string operation;  ///< popdist_error::operation()
  std::string text;       ///< with what it moves, and its tensor
};
/// Of the whole that `call` may be a part of.
CallDescription descriptionOf(const CollectiveCall& call);

/// Callers outside see a popdist_error.
class CallError : public popdist_error {
 public:
  CallError(ErrorCode code, const std::string& call, const std::string& cause, Where where)
      : popdist_error(code, call + ": " + cause, std::move(where)), cause_(cause) {}

  /// what() without the call: for who makes it as a part of another one.
  const std::string& cause() const { return cause_; }

 private:
  std::string cause_;
};

}  // namespace popdist::group
