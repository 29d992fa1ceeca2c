// SPDX-License-Identifier: Apache-2.0
// Every operator, element type and instruction set against the reference, bit by bit: odd lengths, any
// address, one to nine sources, one to four destinations, in place, partial results, streaming.
#include "libpopdist/internal/fold.h"

#include <gtest/gtest.h>

#include "tests/unit/libpopdist/collectives/reduce/fold_arena.h"

namespace popdist::reduce {
namespace {

constexpr Operator kOperators[] = {Operator::kSum,        Operator::kMean,      Operator::kMin,
                                   Operator::kMax,        Operator::kProduct,   Operator::kSquareAdd,
                                   Operator::kLogicalAnd, Operator::kLogicalOr, Operator::kBitAnd,
                                   Operator::kBitOr,      Operator::kBitXor};

template <typename T>
class Fold : public testing::Test {
 protected:
  static constexpr Type kType = typeOf<T>();

  /// body(op) for every operator that the type has.
  template <typename Body>
  void forEachOperator(Body body) {
    for (const Operator op : kOperators) {
      if (supports(op, kType)) body(op);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
};

using ElementTypes =
    testing::Types<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t, half, bfloat16, float, double>;
TYPED_TEST_SUITE(Fold, ElementTypes);

TYPED_TEST(Fold, AgreesWithTheReferenceAtAnyLengthAndAddress) {
  this->forEachOperator([&](Operator op) {
    for (const std::size_t count : {0U, 1U, 2U, 7U, 31U, 64U, 65U, 100U, 257U, 530U}) {
      const std::size_t sources = 1 + count % 9;
      const FoldSpec spec{.op = op, .type = TestFixture::kType, .divisor = 3};
      const auto elements = anySources<TypeParam>(sources, count);
      expectFold(spec, elements, {.seed = count});
      expectFold(spec, elements, {.seed = count, .any_address = false});
      if (this->HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(Fold, TakesOneToNineSourcesToOneToFourDestinationsInPlaceOrNot) {
  this->forEachOperator([&](Operator op) {
    for (std::size_t sources = 1; sources <= 9; ++sources) {
      for (std::size_t destinations = 1; destinations <= 4; ++destinations) {
        const FoldSpec spec{.op = op, .type = TestFixture::kType, .divisor = static_cast<double>(sources)};
        const auto elements = anySources<TypeParam>(sources, 75);
        const std::size_t in_place = sources % (destinations + 1);
        expectFold(spec, elements, {destinations, std::min(in_place, sources), sources});
        if (this->HasFatalFailure()) return;
      }
    }
  });
}

TYPED_TEST(Fold, StreamsTheSameResults) {
  this->forEachOperator([&](Operator op) {
    for (const std::size_t count : {1U, 75U, 530U, 1024U}) {
      const FoldSpec spec{.op = op, .type = TestFixture::kType, .divisor = 7, .streaming = true};
      const auto elements = anySources<TypeParam>(3, count);
      expectFold(spec, elements, {.destinations = 2, .seed = count});
      expectFold(spec, elements, {.destinations = 2, .seed = count, .any_address = false});
      if (this->HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(Fold, TakesPartialResultsAsTheyAre) {
  this->forEachOperator([&](Operator op) {
    // A partial result of a logical operator is 0 or 1 already.
    auto elements = anySources<TypeParam>(4, 75);
    for (std::size_t k = 0; k < 3; ++k)
      elements[k] = expectedOf<TypeParam>({.op = op, .type = TestFixture::kType}, {elements[k]});
    for (std::size_t partials = 0; partials <= 4; ++partials) {
      if (partials == 4) elements.pop_back();
      expectFold<TypeParam>({op, TestFixture::kType, std::min(partials, elements.size()), 5}, elements, {});
      if (this->HasFatalFailure()) return;
    }
  });
}

/// All but 16-bit floats, which are rounded at every hop.
TYPED_TEST(Fold, GivesTheSameInHopsAsAtOnce) {
  if constexpr (!kIsFloat16<TypeParam>) {
    this->forEachOperator([&](Operator op) {
      const auto elements = anySources<TypeParam>(5, 75);
      FoldSpec hop{.op = op, .type = TestFixture::kType};
      const auto expected = expectedOf<TypeParam>({.op = op, .type = hop.type, .divisor = 5}, elements);
      for (const Isa isa : availableIsas()) {
        GuardedArray<TypeParam> result(elements[0], 0);
        for (std::size_t k = 1; k < elements.size(); ++k) {
          const GuardedArray<TypeParam> own(elements[k], 0);
          void* const to[] = {result.data()};
          const void* const from[] = {result.data(), own.data()};
          hop.partials = k == 1 ? 0 : 1;
          hop.divisor = k == elements.size() - 1 ? 5 : 1;
          foldOn(isa, hop, to, from, elements[k].size());
        }
        ASSERT_EQ(bitsOf(result.elements()), bitsOf(expected)) << nameOf(isa) << ' ' << nameOf(op);
      }
    });
  }
}

TYPED_TEST(Fold, DoesNotDependOnHowArraysAreCutIntoCalls) {
  this->forEachOperator([&](Operator op) {
    constexpr std::size_t kCount = 400;
    const FoldSpec spec{.op = op, .type = TestFixture::kType, .divisor = 3};
    const auto elements = anySources<TypeParam>(2, kCount);
    const auto expected = bitsOf(expectedOf(spec, elements));
    const GuardedArray<TypeParam> left(elements[0], 1);
    const GuardedArray<TypeParam> right(elements[1], 5);
    for (const Isa isa : availableIsas()) {
      GuardedArray<TypeParam> result(kCount, 9);
      for (std::size_t first = 0, piece = 1; first < kCount; first += piece, piece = piece * 3 % 101) {
        const std::size_t at = first * sizeof(TypeParam);
        void* const to[] = {static_cast<char*>(result.data()) + at};
        const void* const from[] = {static_cast<const char*>(left.data()) + at,
                                    static_cast<const char*>(right.data()) + at};
        foldOn(isa, spec, to, from, std::min(piece, kCount - first));
      }
      ASSERT_EQ(bitsOf(result.elements()), expected) << nameOf(isa) << ' ' << nameOf(op);
    }
  });
}

template <typename T>
void expectEveryPatternKept(std::uint32_t quiet_nan) {
  std::vector<T> elements;
  std::vector<std::uint64_t> expected;
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    elements.push_back(elementOfBits<T>(bits));
    expected.push_back(std::isnan(static_cast<float>(elements.back())) ? quiet_nan : bits);
  }
  for (const Isa isa : availableIsas()) {
    std::vector<T> result(elements.size());
    void* const to[] = {result.data()};
    const void* const from[] = {elements.data()};
    foldOn(isa, {Operator::kSum, typeOf<T>()}, to, from, elements.size());
    ASSERT_EQ(bitsOf(result), expected) << nameOf(isa);
  }
}

TEST(Folds, OneSourceOfHalvesIsCopied) {
  expectEveryPatternKept<half>(0x7E00);
}
TEST(Folds, OneSourceOfBfloat16sIsCopied) {
  expectEveryPatternKept<bfloat16>(0x7FC0);
}

TEST(Folds, SixteenBitFloatsAreRoundedOnce) {
  // 1 + 2^-8 + 2^-8 is a bfloat16; rounded after each sum it would stay 1. Likewise for half and 2^-11.
  for (const Isa isa : availableIsas()) {
    bfloat16 one_b(1.0F);
    const bfloat16 little_b(0x1p-8F);
    half one_h(1.0F);
    const half little_h(0x1p-11F);
    void* const to_b[] = {&one_b};
    const void* const from_b[] = {&one_b, &little_b, &little_b};
    foldOn(isa, {Operator::kSum, Type::kBfloat16}, to_b, from_b, 1);
    EXPECT_EQ(static_cast<float>(one_b), 1 + 0x1p-7F) << nameOf(isa);
    void* const to_h[] = {&one_h};
    const void* const from_h[] = {&one_h, &little_h, &little_h};
    foldOn(isa, {Operator::kSum, Type::kHalf}, to_h, from_h, 1);
    EXPECT_EQ(static_cast<float>(one_h), 1 + 0x1p-10F) << nameOf(isa);
  }
}

TEST(Folds, TheChosenInstructionSetIsUsedByDefault) {
  const float a[] = {1, 2, 3};
  const float b[] = {10, 20, 30};
  float sums[3];
  void* const to[] = {sums};
  const void* const from[] = {a, b};
  fold({.op = Operator::kSum, .type = Type::kFloat}, to, from, 3);
  EXPECT_EQ(std::vector<float>(sums, sums + 3), (std::vector<float>{11, 22, 33}));
}

}  // namespace
}  // namespace popdist::reduce
