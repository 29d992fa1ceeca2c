// SPDX-License-Identifier: Apache-2.0
// From an element type as a value to one of C++.
#pragma once

#include <cstdint>
#include <type_traits>

#include "popdist/types.hpp"

namespace popdist {

/// Calls `visitor` with std::type_identity<T> for the T of `type`, and returns what that returns.
template <typename Visitor>
decltype(auto) visitType(Type type, Visitor&& visitor) {
  switch (type) {
    case Type::kBool:
      return visitor(std::type_identity<bool>());
    case Type::kInt8:
      return visitor(std::type_identity<std::int8_t>());
    case Type::kUint8:
      return visitor(std::type_identity<std::uint8_t>());
    case Type::kInt16:
      return visitor(std::type_identity<std::int16_t>());
    case Type::kUint16:
      return visitor(std::type_identity<std::uint16_t>());
    case Type::kInt32:
      return visitor(std::type_identity<std::int32_t>());
    case Type::kUint32:
      return visitor(std::type_identity<std::uint32_t>());
    case Type::kInt64:
      return visitor(std::type_identity<std::int64_t>());
    case Type::kUint64:
      return visitor(std::type_identity<std::uint64_t>());
    case Type::kHalf:
      return visitor(std::type_identity<half>());
    case Type::kBfloat16:
      return visitor(std::type_identity<bfloat16>());
    case Type::kFloat:
      return visitor(std::type_identity<float>());
    case Type::kDouble:
      break;
  }
  return visitor(std::type_identity<double>());
}

}  // namespace popdist
