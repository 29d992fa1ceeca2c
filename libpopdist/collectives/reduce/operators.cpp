// SPDX-License-Identifier: Apache-2.0
// Facts about operators: one table.
#include "popdist/operators.hpp"

#include <array>

namespace popdist {
namespace {

enum Family : unsigned { kNone = 0, kTruth = 1, kIntegers = 2, kFloats = 4 };

struct OperatorFacts {
  Operator op;
  const char* name;
  unsigned families;
};

constexpr std::array kOperators{
    OperatorFacts{Operator::kSum, "sum", kIntegers | kFloats},
    OperatorFacts{Operator::kMean, "mean", kFloats},
    OperatorFacts{Operator::kMin, "min", kTruth | kIntegers | kFloats},
    OperatorFacts{Operator::kMax, "max", kTruth | kIntegers | kFloats},
    OperatorFacts{Operator::kProduct, "product", kIntegers | kFloats},
    OperatorFacts{Operator::kSquareAdd, "square add", kIntegers | kFloats},
    OperatorFacts{Operator::kLogicalAnd, "logical and", kTruth | kIntegers},
    OperatorFacts{Operator::kLogicalOr, "logical or", kTruth | kIntegers},
    OperatorFacts{Operator::kBitAnd, "bit and", kTruth | kIntegers},
    OperatorFacts{Operator::kBitOr, "bit or", kTruth | kIntegers},
    OperatorFacts{Operator::kBitXor, "bit xor", kTruth | kIntegers},
    OperatorFacts{Operator::kLocal, "local", kNone},
};

constexpr bool operatorsAreInOrder() {
  for (std::size_t i = 0; i < kOperators.size(); ++i) {
    if (static_cast<std::size_t>(kOperators[i].op) != i) return false;
  }
  return kOperators.back().op == Operator::kLocal;
}
static_assert(operatorsAreInOrder(), "kOperators is indexed by Operator");

const OperatorFacts& factsOf(Operator op) {
  static constexpr OperatorFacts kUnknown{Operator::kSum, "unknown operator", kNone};
  const auto index = static_cast<std::size_t>(op);
  return index < kOperators.size() ? kOperators[index] : kUnknown;
}

Family familyOf(Type type) {
  switch (type) {
    case Type::kBool:
      return kTruth;
    case Type::kInt8:
    case Type::kUint8:
    case Type::kInt16:
    case Type::kUint16:
    case Type::kInt32:
    case Type::kUint32:
    case Type::kInt64:
    case Type::kUint64:
      return kIntegers;
    case Type::kHalf:
    case Type::kBfloat16:
    case Type::kFloat:
    case Type::kDouble:
      return kFloats;
  }
  return kNone;
}

}  // namespace

const char* nameOf(Operator op) {
  return factsOf(op).name;
}

bool supports(Operator op, Type type) {
  return (factsOf(op).families & familyOf(type)) != 0;
}

}  // namespace popdist
