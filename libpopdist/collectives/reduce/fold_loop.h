// SPDX-License-Identifier: Apache-2.0
// The loop over the elements, for one instruction set, element type and operator. All of an array, its odd
// ends included, goes through the same vector code, so that what an element becomes does not depend on where
// it lies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libpopdist/collectives/reduce/combine.h"
#include "libpopdist/collectives/reduce/fold_kernel.h"
#include "libpopdist/collectives/reduce/lanes.h"

namespace popdist::reduce {
namespace {

/// Vectors, past the caches where that is wanted and possible.
template <typename Simd>
struct Whole : Simd {
  bool streaming;
  POPDIST_INLINE void store(unsigned char* to, typename Simd::Bytes bytes) const {
    if (streaming && reinterpret_cast<std::uintptr_t>(to) % Simd::kBytes == 0)
      Simd::stream(to, bytes);
    else
      Simd::store(to, bytes);
  }
};

/// Less than a vector.
template <typename Simd>
struct Part : Simd {
  std::size_t count;
  POPDIST_INLINE typename Simd::Bytes load(const unsigned char* from) const {
    return Simd::loadPart(from, count);
  }
  POPDIST_INLINE void store(unsigned char* to, typename Simd::Bytes bytes) const {
    Simd::storePart(to, bytes, count);
  }
};

template <typename Simd, typename Lane, template <typename, std::size_t> class Operation>
class Fold {
 public:
  static void run(const FoldArguments& call) {
    const FoldArguments arguments = call;  // a copy, which no store can be thought to change
    const std::size_t bytes = arguments.bytes;
    const Whole<Simd> whole{{}, arguments.streaming};
    std::size_t at = bytesToAlign(arguments);
    if (at != 0) step<1>(arguments, 0, Part<Simd>{{}, at});
    for (; bytes - at >= kStep; at += kStep) step<kBlocks>(arguments, at, whole);
    for (; bytes - at >= Simd::kBytes; at += Simd::kBytes) step<1>(arguments, at, whole);
    if (at != bytes) step<1>(arguments, at, Part<Simd>{{}, bytes - at});
    if (arguments.streaming) Simd::endStreaming();
  }

 private:
  static constexpr std::size_t kBlocks = Simd::kRegisters / Lane::kParts;
  static constexpr std::size_t kStep = kBlocks * Simd::kBytes;

  using Math = Operation<typename Lane::Element, sizeof(typename Lane::Part)>;
  using Bytes = typename Simd::Bytes;
  using Value = typename Math::Value;

  struct Keys {
    typename Math::Key part[Lane::kParts];
  };

  /// Until the first destination is aligned: a store across two cache lines costs as much as two.
  static std::size_t bytesToAlign(const FoldArguments& arguments) {
    const std::size_t gap = (0 - reinterpret_cast<std::uintptr_t>(arguments.to[0])) % Simd::kBytes;
    if (gap % Lane::kElementBytes != 0) return 0;
    return gap < arguments.bytes ? gap : arguments.bytes;
  }

  template <std::size_t kCount, typename Memory>
  POPDIST_INLINE static void step(const FoldArguments& arguments, std::size_t at, Memory memory) {
    Keys result[kCount];
    const unsigned char* from = sourceAt(arguments, 0, at);
#pragma GCC unroll 8
    for (std::size_t block = 0; block < kCount; ++block)
      result[block] = unpack(memory.load(from + block * Simd::kBytes), arguments.partials == 0);
    for (std::size_t k = 1; k < arguments.sources; ++k) {
      from = sourceAt(arguments, k, at);
#pragma GCC unroll 8
      for (std::size_t block = 0; block < kCount; ++block) {
        const Keys keys = unpack(memory.load(from + block * Simd::kBytes), k >= arguments.partials);
        result[block] = combine(result[block], keys);
      }
    }
    Bytes packed[kCount];
#pragma GCC unroll 8
    for (std::size_t block = 0; block < kCount; ++block)
      packed[block] = pack(result[block], arguments.divisor);
    for (std::size_t d = 0; d < arguments.destinations; ++d) {
      auto* to = static_cast<unsigned char*>(arguments.to[d]) + at;
#pragma GCC unroll 8
      for (std::size_t block = 0; block < kCount; ++block)
        memory.store(to + block * Simd::kBytes, packed[block]);
    }
  }

  POPDIST_INLINE static const unsigned char* sourceAt(const FoldArguments& arguments, std::size_t k,
                                                      std::size_t at) {
    return static_cast<const unsigned char*>(arguments.from[k]) + at;
  }

  POPDIST_INLINE static Keys unpack(Bytes bytes, bool own) {
    Value values[Lane::kParts];
    Lane::unpack(bytes, values);
    Keys keys;
#pragma GCC unroll 2
    for (std::size_t i = 0; i < Lane::kParts; ++i)
      keys.part[i] = Math::enter(Math::kPrepares && own ? Math::prepare(values[i]) : values[i]);
    return keys;
  }

  POPDIST_INLINE static Keys combine(Keys a, Keys b) {
#pragma GCC unroll 2
    for (std::size_t i = 0; i < Lane::kParts; ++i) a.part[i] = Math::combine(a.part[i], b.part[i]);
    return a;
  }

  POPDIST_INLINE static Bytes pack(Keys keys, [[maybe_unused]] double divisor) {
    Value values[Lane::kParts];
#pragma GCC unroll 2
    for (std::size_t i = 0; i < Lane::kParts; ++i) {
      values[i] = Math::leave(keys.part[i]);
      if constexpr (Math::kDivides) values[i] = values[i] / static_cast<typename Lane::Element>(divisor);
    }
    return Lane::pack(values);
  }
};

template <typename Simd, typename Unsigned, typename Ordered>
FoldKernel integerKernel(Operator op) {
  using Lane = IntegerLane<Simd, Unsigned>;
  // Bits have no type: bytes do for all widths.
  using Bytes = IntegerLane<Simd, std::uint8_t>;
  using OrderedLane = IntegerLane<Simd, Ordered>;
  switch (op) {
    case Operator::kSum:
      return Fold<Simd, Lane, Sum>::run;
    case Operator::kMean:
    case Operator::kLocal:
      return nullptr;
    case Operator::kMin:
      return Fold<Simd, OrderedLane, Min>::run;
    case Operator::kMax:
      return Fold<Simd, OrderedLane, Max>::run;
    case Operator::kProduct:
      return Fold<Simd, Lane, Product>::run;
    case Operator::kSquareAdd:
      return Fold<Simd, Lane, SquareAdd>::run;
    case Operator::kLogicalAnd:
      return Fold<Simd, Lane, LogicalAnd>::run;
    case Operator::kLogicalOr:
      return Fold<Simd, Lane, LogicalOr>::run;
    case Operator::kBitAnd:
      return Fold<Simd, Bytes, BitAnd>::run;
    case Operator::kBitOr:
      return Fold<Simd, Bytes, BitOr>::run;
    case Operator::kBitXor:
      return Fold<Simd, Bytes, BitXor>::run;
  }
  return nullptr;
}

template <typename Simd, typename Lane>
FoldKernel floatKernel(Operator op) {
  switch (op) {
    case Operator::kSum:
      return Fold<Simd, Lane, Sum>::run;
    case Operator::kMean:
      return Fold<Simd, Lane, Mean>::run;
    case Operator::kMin:
      return Fold<Simd, Lane, FloatMin>::run;
    case Operator::kMax:
      return Fold<Simd, Lane, FloatMax>::run;
    case Operator::kProduct:
      return Fold<Simd, Lane, Product>::run;
    case Operator::kSquareAdd:
      return Fold<Simd, Lane, SquareAdd>::run;
    default:
      return nullptr;
  }
}

template <typename Simd>
FoldKernel halfKernel(Operator op) {
  return floatKernel<Simd, Float16Lane<Simd, typename Simd::Halves>>(op);
}

template <typename Simd>
FoldKernel bfloat16Kernel(Operator op) {
  return floatKernel<Simd, Float16Lane<Simd, typename Simd::Bfloat16s>>(op);
}

template <typename Simd>
FoldKernel kernelOf(Operator op, Type type) {
  switch (type) {
    case Type::kBool:
    case Type::kUint8:
      return integerKernel<Simd, std::uint8_t, std::uint8_t>(op);
    case Type::kInt8:
      return integerKernel<Simd, std::uint8_t, std::int8_t>(op);
    case Type::kInt16:
      return integerKernel<Simd, std::uint16_t, std::int16_t>(op);
    case Type::kUint16:
      return integerKernel<Simd, std::uint16_t, std::uint16_t>(op);
    case Type::kInt32:
      return integerKernel<Simd, std::uint32_t, std::int32_t>(op);
    case Type::kUint32:
      return integerKernel<Simd, std::uint32_t, std::uint32_t>(op);
    case Type::kInt64:
      return integerKernel<Simd, std::uint64_t, std::int64_t>(op);
    case Type::kUint64:
      return integerKernel<Simd, std::uint64_t, std::uint64_t>(op);
    case Type::kHalf:
      return halfKernel<typename Simd::ForHalves>(op);
    case Type::kBfloat16:
      return bfloat16Kernel<Simd>(op);
    case Type::kFloat:
      return floatKernel<Simd, FloatLane<Simd, float>>(op);
    case Type::kDouble:
      return floatKernel<Simd, FloatLane<Simd, double>>(op);
  }
  return nullptr;
}

}  // namespace
}  // namespace popdist::reduce
