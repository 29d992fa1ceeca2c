// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/reduce/kernels.h"

#include "libpopdist/src/reduce/fold.h"

namespace popdist::reduce {
namespace {

template <Type kType>
void sum(void* to, const void* from, const void* incoming, std::size_t count) {
  void* const destinations[] = {to};
  const void* const sources[] = {from, incoming};
  fold({Operator::kSum, kType}, destinations, sources, count);
}

}  // namespace

Kernel sumKernel(Type type) {
  switch (type) {
    case Type::kBool:
      return nullptr;
    case Type::kInt8:
    case Type::kUint8:
      return sum<Type::kUint8>;
    case Type::kInt16:
    case Type::kUint16:
      return sum<Type::kUint16>;
    case Type::kInt32:
    case Type::kUint32:
      return sum<Type::kUint32>;
    case Type::kInt64:
    case Type::kUint64:
      return sum<Type::kUint64>;
    case Type::kHalf:
      return sum<Type::kHalf>;
    case Type::kBfloat16:
      return sum<Type::kBfloat16>;
    case Type::kFloat:
      return sum<Type::kFloat>;
    case Type::kDouble:
      return sum<Type::kDouble>;
  }
  return nullptr;
}

}  // namespace popdist::reduce
