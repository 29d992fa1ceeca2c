// SPDX-License-Identifier: Apache-2.0
// One plain loop, instantiated per type: the compiler turns it into vector code and checks at run time that
// the ranges do not half overlap. Elements are read and written with memcpy because messages arrive at any
// address.
#include "libpopdist/src/reduce/kernels.h"

#include <cstdint>
#include <cstring>

#include "libpopdist/src/reduce/float16.h"

namespace popdist::reduce {
namespace {

template <typename T>
struct Plain {
  using Storage = T;
  static T add(T a, T b) { return static_cast<T>(a + b); }
};

struct Half {
  using Storage = std::uint16_t;
  static Storage add(Storage a, Storage b) { return halfFromFloat(floatFromHalf(a) + floatFromHalf(b)); }
};

struct Bfloat16 {
  using Storage = std::uint16_t;
  static Storage add(Storage a, Storage b) {
    return bfloat16FromFloat(floatFromBfloat16(a) + floatFromBfloat16(b));
  }
};

template <typename Element>
void sum(void* to, const void* from, const void* incoming, std::size_t count) {
  using Storage = typename Element::Storage;
  auto* const result = static_cast<unsigned char*>(to);
  const auto* const left = static_cast<const unsigned char*>(from);
  const auto* const right = static_cast<const unsigned char*>(incoming);
  for (std::size_t i = 0; i < count; ++i) {
    Storage a;
    Storage b;
    std::memcpy(&a, left + i * sizeof(Storage), sizeof(Storage));
    std::memcpy(&b, right + i * sizeof(Storage), sizeof(Storage));
    const Storage total = Element::add(a, b);
    std::memcpy(result + i * sizeof(Storage), &total, sizeof(Storage));
  }
}

}  // namespace

Kernel sumKernel(Type type) {
  switch (type) {
    case Type::kBool:
      return nullptr;
    // Signed integers are added as unsigned ones: the same bits, and overflow is defined.
    case Type::kInt8:
    case Type::kUint8:
      return sum<Plain<std::uint8_t>>;
    case Type::kInt16:
    case Type::kUint16:
      return sum<Plain<std::uint16_t>>;
    case Type::kInt32:
    case Type::kUint32:
      return sum<Plain<std::uint32_t>>;
    case Type::kInt64:
    case Type::kUint64:
      return sum<Plain<std::uint64_t>>;
    case Type::kHalf:
      return sum<Half>;
    case Type::kBfloat16:
      return sum<Bfloat16>;
    case Type::kFloat:
      return sum<Plain<float>>;
    case Type::kDouble:
      return sum<Plain<double>>;
  }
  return nullptr;
}

}  // namespace popdist::reduce
