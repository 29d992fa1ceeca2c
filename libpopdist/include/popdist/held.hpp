// SPDX-License-Identifier: Apache-2.0
// The pointer by which objects that can be moved hold their implementation: a call on one that was moved from
// throws popdist_error kFailedPrecondition, "this Communicator was moved from". Such an object can be
// assigned to and destroyed. Costs a comparison a call.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "popdist/cxx20.hpp"

namespace popdist::detail {

/// The name of a type, as a template's argument.
struct TypeName {
  template <std::size_t kBytes>
  constexpr TypeName(const char (&name)[kBytes]) {  // NOLINT: Held<Impl, "Trainer"> reads best
    for (std::size_t i = 0; i < kBytes; ++i) text[i] = name[i];
  }
  char text[24] = {};
};

/// Throws the error for an object of `type`.
[[noreturn]] void refuseMovedFrom(const char* type);

template <typename Impl, TypeName kType>
class Held {
 public:
  Held() = default;
  Held(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}  // NOLINT: in place of a std::unique_ptr

  Impl& operator*() const {
    if (impl_ == nullptr) [[unlikely]]
      refuseMovedFrom(kType.text);
    return *impl_;
  }
  Impl* operator->() const { return &**this; }
  /// False after a move from it.
  explicit operator bool() const { return impl_ != nullptr; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist::detail
