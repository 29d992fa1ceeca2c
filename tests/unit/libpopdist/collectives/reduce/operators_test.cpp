// SPDX-License-Identifier: Apache-2.0
// Names of operators, and which element types they are defined for.
#include "popdist/operators.hpp"

#include <gtest/gtest.h>

#include <set>

namespace popdist {
namespace {

constexpr unsigned kOperatorCount = 12;
constexpr unsigned kTypeCount = 13;

/// One letter for each Type in order: x where the operator is defined for it.
std::string typesOf(Operator op) {
  std::string types;
  for (unsigned type = 0; type < kTypeCount; ++type)
    types += supports(op, static_cast<Type>(type)) ? 'x' : '.';
  return types;
}

TEST(Operators, AreDefinedWhereTheyMakeSense) {
  //                                               bool, 8 integers, 4 floats
  EXPECT_EQ(typesOf(Operator::kSum), ".xxxxxxxxxxxx");
  EXPECT_EQ(typesOf(Operator::kMean), ".........xxxx");
  EXPECT_EQ(typesOf(Operator::kMin), "xxxxxxxxxxxxx");
  EXPECT_EQ(typesOf(Operator::kMax), "xxxxxxxxxxxxx");
  EXPECT_EQ(typesOf(Operator::kProduct), ".xxxxxxxxxxxx");
  EXPECT_EQ(typesOf(Operator::kSquareAdd), ".xxxxxxxxxxxx");
  EXPECT_EQ(typesOf(Operator::kLogicalAnd), "xxxxxxxxx....");
  EXPECT_EQ(typesOf(Operator::kLogicalOr), "xxxxxxxxx....");
  EXPECT_EQ(typesOf(Operator::kBitAnd), "xxxxxxxxx....");
  EXPECT_EQ(typesOf(Operator::kBitOr), "xxxxxxxxx....");
  EXPECT_EQ(typesOf(Operator::kBitXor), "xxxxxxxxx....");
  EXPECT_EQ(typesOf(Operator::kLocal), ".............");  // Pod::reduceScatter alone has it
}

TEST(Operators, NumbersOutsideTheEnumerationsAreNotDefined) {
  EXPECT_FALSE(supports(static_cast<Operator>(kOperatorCount), Type::kFloat));
  EXPECT_FALSE(supports(static_cast<Operator>(255), Type::kFloat));
  EXPECT_FALSE(supports(Operator::kSum, static_cast<Type>(kTypeCount)));
}

TEST(Operators, HaveNames) {
  EXPECT_STREQ(nameOf(Operator::kSum), "sum");
  EXPECT_STREQ(nameOf(Operator::kBitXor), "bit xor");
  EXPECT_STREQ(nameOf(static_cast<Operator>(255)), "unknown operator");
  std::set<std::string> names;
  for (unsigned op = 0; op < kOperatorCount; ++op) names.insert(nameOf(static_cast<Operator>(op)));
  EXPECT_EQ(names.size(), kOperatorCount);
}

}  // namespace
}  // namespace popdist
