// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/feeds/accumulator.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "libpopdist/data/tensor/visit_type.h"

namespace popdist::io {
namespace {

template <typename T>
constexpr bool kIs16Bit = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

template <typename Sum, typename T>
Sum arithmetic(T value) {
  if constexpr (kIs16Bit<T>)
    return static_cast<Sum>(static_cast<float>(value));
  else
    return static_cast<Sum>(value);
}

template <typename Sum, typename T>
void add(std::byte* sums, const std::byte* values, std::size_t elements) {
  auto* to = reinterpret_cast<Sum*>(sums);
  const auto* from = reinterpret_cast<const T*>(values);
  for (std::size_t i = 0; i < elements; ++i) {
    if constexpr (std::is_integral_v<Sum>)  // wraps
      to[i] = static_cast<Sum>(static_cast<std::uint64_t>(to[i]) + static_cast<std::uint64_t>(from[i]));
    else if constexpr (kIs16Bit<Sum>)
      to[i] = Sum(static_cast<float>(to[i]) + static_cast<float>(from[i]));
    else
      to[i] += arithmetic<Sum>(from[i]);
  }
}

void addTensor(const TensorSpec& sum, std::byte* to, const TensorSpec& value, const std::byte* from) {
  visitType(value.type, [&](auto type) {
    using T = typename decltype(type)::type;
    if (sum.type == value.type)
      add<T, T>(to, from, sum.elements());
    else if (sum.type == Type::kFloat)
      add<float, T>(to, from, sum.elements());
    else
      add<double, T>(to, from, sum.elements());
  });
}

}  // namespace

pop::Result<Spec> specOfSums(const Spec& values, std::optional<Type> type) {
  if (type && *type != Type::kFloat && *type != Type::kDouble) {
    return pop::invalidArgument("sums are of float or double, or of the values' own type; not of " +
                                std::string(nameOf(*type)));
  }
  Spec sums = values;
  for (TensorSpec& sum : sums) {
    if (sum.type == Type::kBool)
      return pop::invalidArgument("the tensor " + textOf(sum) + " cannot be summed");
    if (!type && sizeOf(sum.type) == 1) {
      return pop::invalidArgument("sums of " + textOf(sum) + " in " + std::string(nameOf(sum.type)) +
                                  " would soon wrap: set OutfeedAccumulation::type to kFloat or kDouble");
    }
    if (type) sum.type = *type;
  }
  return sums;
}

void addTo(TensorRefs sums, ConstTensorRefs values) {
  for (std::size_t i = 0; i < sums.size(); ++i)
    addTensor(sums.spec()[i], sums.data()[i], values.spec()[i], values.data()[i]);
}

}  // namespace popdist::io
