// SPDX-License-Identifier: Apache-2.0
// Operators on vectors of elements. Operators combine keys: enter() makes one of an element, leave() an
// element of a key; prepare() is applied before that to members' own elements, not to partial results.
#pragma once

#include <cstdint>

#include "libpopdist/collectives/reduce/vectors.h"

namespace popdist::reduce {
namespace {

template <typename Element, std::size_t kBytes>
struct Direct {
  using Value = Vector<Element, kBytes>;
  using Key = Value;
  static constexpr bool kPrepares = false;
  static constexpr bool kDivides = false;

  POPDIST_INLINE static Value prepare(Value value) { return value; }
  POPDIST_INLINE static Key enter(Value value) { return value; }
  POPDIST_INLINE static Value leave(Key key) { return key; }
};

template <typename Element, std::size_t kBytes>
struct Sum : Direct<Element, kBytes> {
  using typename Direct<Element, kBytes>::Key;
  POPDIST_INLINE static Key combine(Key a, Key b) { return a + b; }
};

template <typename Element, std::size_t kBytes>
struct Mean : Sum<Element, kBytes> {
  static constexpr bool kDivides = true;
};

template <typename Element, std::size_t kBytes>
struct SquareAdd : Sum<Element, kBytes> {
  using typename Sum<Element, kBytes>::Value;
  static constexpr bool kPrepares = true;
  POPDIST_INLINE static Value prepare(Value value) { return value * value; }
};

template <typename Element, std::size_t kBytes>
struct Product : Direct<Element, kBytes> {
  using typename Direct<Element, kBytes>::Key;
  POPDIST_INLINE static Key combine(Key a, Key b) { return a * b; }
};

template <typename Element, std::size_t kBytes>
struct BitAnd : Direct<Element, kBytes> {
  using typename Direct<Element, kBytes>::Key;
  POPDIST_INLINE static Key combine(Key a, Key b) { return a & b; }
};

template <typename Element, std::size_t kBytes>
struct BitOr : Direct<Element, kBytes> {
  using typename Direct<Element, kBytes>::Key;
  POPDIST_INLINE static Key combine(Key a, Key b) { return a | b; }
};

template <typename Element, std::size_t kBytes>
struct BitXor : Direct<Element, kBytes> {
  using typename Direct<Element, kBytes>::Key;
  POPDIST_INLINE static Key combine(Key a, Key b) { return a ^ b; }
};

template <typename Element, std::size_t kBytes>
struct LogicalAnd : BitAnd<Element, kBytes> {
  using typename BitAnd<Element, kBytes>::Value;
  POPDIST_INLINE static Value enter(Value value) { return value != 0 ? Value{} + 1 : Value{}; }
};

template <typename Element, std::size_t kBytes>
struct LogicalOr : BitOr<Element, kBytes> {
  using typename BitOr<Element, kBytes>::Value;
  POPDIST_INLINE static Value enter(Value value) { return value != 0 ? Value{} + 1 : Value{}; }
};

/// Integers by which floats are compared: their bits, with those of negative ones turned round, are in order,
/// -0 before +0. NaNs lie at both ends; turning the circle of integers by the number of NaNs at one end
/// brings all of them together at the end that wins.
template <typename Float>
struct OrderOf;
template <>
struct OrderOf<float> {
  using Signed = std::int32_t;
  using Unsigned = std::uint32_t;
  static constexpr Signed kMagnitude = 0x7FFFFFFF;
  static constexpr Unsigned kNans = 0x007FFFFFU;
};
template <>
struct OrderOf<double> {
  using Signed = std::int64_t;
  using Unsigned = std::uint64_t;
  static constexpr Signed kMagnitude = 0x7FFFFFFFFFFFFFFF;
  static constexpr Unsigned kNans = 0x000FFFFFFFFFFFFFU;
};

template <typename Float, std::size_t kBytes, typename OrderOf<Float>::Unsigned kTurn>
struct FloatInOrder : Direct<Float, kBytes> {
  using typename Direct<Float, kBytes>::Value;
  using Key = Vector<typename OrderOf<Float>::Signed, kBytes>;
  using Place = Vector<typename OrderOf<Float>::Unsigned, kBytes>;

  POPDIST_INLINE static Key enter(Value value) {
    return as<Key>(as<Place>(turnNegatives(as<Key>(value))) + kTurn);
  }
  POPDIST_INLINE static Value leave(Key key) {
    return as<Value>(turnNegatives(as<Key>(as<Place>(key) - kTurn)));
  }

 private:
  POPDIST_INLINE static Key turnNegatives(Key bits) {
    return bits ^ ((bits >> (8 * sizeof(Float) - 1)) & OrderOf<Float>::kMagnitude);
  }
};

template <typename Integer, std::size_t kBytes>
struct Min : Direct<Integer, kBytes> {
  using typename Direct<Integer, kBytes>::Key;
  POPDIST_INLINE static Key combine(Key a, Key b) { return a < b ? a : b; }
};

template <typename Integer, std::size_t kBytes>
struct Max : Direct<Integer, kBytes> {
  using typename Direct<Integer, kBytes>::Key;
  POPDIST_INLINE static Key combine(Key a, Key b) { return a > b ? a : b; }
};

template <typename Float, std::size_t kBytes>
struct FloatMin : FloatInOrder<Float, kBytes, OrderOf<Float>::kNans> {
  using Key = typename FloatInOrder<Float, kBytes, OrderOf<Float>::kNans>::Key;
  POPDIST_INLINE static Key combine(Key a, Key b) { return a < b ? a : b; }
};

template <typename Float, std::size_t kBytes>
struct FloatMax : FloatInOrder<Float, kBytes, -OrderOf<Float>::kNans> {
  using Key = typename FloatInOrder<Float, kBytes, -OrderOf<Float>::kNans>::Key;
  POPDIST_INLINE static Key combine(Key a, Key b) { return a > b ? a : b; }
};

}  // namespace
}  // namespace popdist::reduce
