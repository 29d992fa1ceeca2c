// SPDX-License-Identifier: Apache-2.0
// The steps between Status (inside) and exceptions (the public edge, and functions of the user).
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "popdist/error.hpp"

namespace popdist {

/// Names the public function that failed.
inline void throwIfError(const pop::Status& status, const std::string& operation) {
  if (status.ok()) return;
  throw popdist_error(static_cast<ErrorCode>(status.code()), operation + ": " + status.message(),
                      {.rank = -1, .peer = -1, .operation = operation});
}

template <typename T>
T valueOrThrow(pop::Result<T> result, const std::string& operation) {
  throwIfError(result.ok() ? pop::Status() : result.status(), operation);
  return std::move(result).value();
}

/// "std::runtime_error: the disk is full"; a popdist_error's text names all that there is to say.
std::string describe(const std::exception& error);
/// "; caused by std::runtime_error: …" for each exception that is nested in `error`; "" for none.
std::string causesOf(const std::exception& error);
/// In a catch block, of an exception that is not a std::exception: its type, and its text if it is one.
std::string describeCurrent();

/// In a catch block: the exception in flight as a value, with those that are nested in it. An exception_ptr
/// would share the thrown object between two threads. `out_of_memory` says what to do then; `thrower` is
/// named when nothing else is known.
pop::Status currentException(const std::string& out_of_memory, const std::string& thrower);

}  // namespace popdist
