// SPDX-License-Identifier: Apache-2.0
// The objects behind the handles of popdist_c.h, and how its functions turn exceptions into errors.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "popdist/async.hpp"
#include "popdist/communicator.hpp"
#include "popdist/context.hpp"
#include "popdist/error.hpp"
#include "popdist/pod.hpp"
#include "popdist_c.h"

struct popdist_error_t {
  popdist::popdist_error error;
};

struct popdist_communicator_t {
  std::unique_ptr<popdist::Communicator> owned;  ///< none: the context's
  popdist::Communicator* communicator = nullptr;
};

struct popdist_context_t {
  popdist::Context& context;
  popdist_communicator_t world;
};

struct popdist_async_t {
  popdist::AsyncCommunicator communicator;
};

struct popdist_request_t {
  std::optional<popdist::Pending> pending;  ///< always there once the caller has the handle
};

struct popdist_pod_t {
  popdist::Pod pod;
  int ipus_per_replica = 1;
};

namespace popdist::c {

/// The error of what is being thrown, or one that says that there is no memory for it.
popdist_error_t* caughtError() noexcept;

/// One call of a function of popdist_c.h: its arguments as C++ has them. All throw kInvalidArgument, which
/// names the function, for arguments that are wrong.
class Call {
 public:
  explicit Call(const char* function) : function_(function) {}

  /// `handle`, which may not be NULL.
  template <typename T>
  T& of(T* handle, const char* name) const {
    notNull(handle, name);
    return *handle;
  }
  Communicator& of(popdist_communicator_t* handle) const { return *of(handle, "communicator").communicator; }

  /// For what takes a communicator over.
  void refuseWorld(const popdist_communicator_t& handle) const;
  void notNull(const void* argument, const char* name) const;
  Type type(popdist_type_t type) const;
  Operator op(popdist_operator_t op) const;
  Fold fold(popdist_fold_t fold) const;
  CallOptions options(const popdist_call_options_t* options) const;
  PodCallOptions options(const popdist_pod_options_t* options) const;
  /// For structs that the caller gives with their size, which must be more than that of its field.
  void checkBytes(std::size_t bytes, const char* type) const;

 private:
  [[noreturn]] void refuse(const std::string& cause) const;

  const char* function_;
};

/// Runs `body(Call)` and returns its error; nullptr: it has none.
template <typename Body>
popdist_error_t* errorOf(const char* function, Body&& body) noexcept {
  try {
    body(Call(function));
    return nullptr;
  } catch (...) {
    return caughtError();
  }
}

/// A time that is 0 where the context's is meant.
std::optional<std::chrono::milliseconds> timeoutOf(std::int64_t timeout_ms);

}  // namespace popdist::c
