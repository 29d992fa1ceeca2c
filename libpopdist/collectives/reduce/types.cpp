// SPDX-License-Identifier: Apache-2.0
// Facts about element types. A value outside the enumeration has size 0 and no name, so that a binding which
// passes on a number from another language can refuse it.
#include "popdist/types.hpp"

#include <array>
#include <bit>

#include "libpopdist/collectives/reduce/float16.h"

namespace popdist {
namespace {

struct TypeFacts {
  Type type;
  std::size_t bytes;
  const char* name;
};

constexpr std::array kTypes{
    TypeFacts{Type::kBool, 1, "bool"},         TypeFacts{Type::kInt8, 1, "int8"},
    TypeFacts{Type::kUint8, 1, "uint8"},       TypeFacts{Type::kInt16, 2, "int16"},
    TypeFacts{Type::kUint16, 2, "uint16"},     TypeFacts{Type::kInt32, 4, "int32"},
    TypeFacts{Type::kUint32, 4, "uint32"},     TypeFacts{Type::kInt64, 8, "int64"},
    TypeFacts{Type::kUint64, 8, "uint64"},     TypeFacts{Type::kHalf, 2, "half"},
    TypeFacts{Type::kBfloat16, 2, "bfloat16"}, TypeFacts{Type::kFloat, 4, "float"},
    TypeFacts{Type::kDouble, 8, "double"},
};

constexpr bool typesAreInOrder() {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (static_cast<std::size_t>(kTypes[i].type) != i) return false;
  }
  return kTypes.back().type == Type::kDouble;
}
static_assert(typesAreInOrder(), "kTypes is indexed by Type");
static_assert(sizeof(bool) == 1 && sizeof(half) == 2 && sizeof(bfloat16) == 2);

const TypeFacts& factsOf(Type type) {
  static constexpr TypeFacts kUnknown{Type::kBool, 0, "unknown type"};
  const auto index = static_cast<std::size_t>(type);
  return index < kTypes.size() ? kTypes[index] : kUnknown;
}

}  // namespace

std::size_t sizeOf(Type type) {
  return factsOf(type).bytes;
}
const char* nameOf(Type type) {
  return factsOf(type).name;
}

half::half(float value) : bits(static_cast<std::uint16_t>(reduce::halfFromFloat<std::int32_t>(value))) {}
half::operator float() const {
  return reduce::floatFromHalf<float>(std::int32_t{bits});
}

bfloat16::bfloat16(float value) {
  const auto float_bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (float_bits & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t rounded = is_nan ? float_bits | 0x00400000U : reduce::roundToUpperHalf(float_bits);
  bits = static_cast<std::uint16_t>(rounded >> 16);
}
bfloat16::operator float() const {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

}  // namespace popdist
