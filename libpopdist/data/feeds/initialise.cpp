// SPDX-License-Identifier: Apache-2.0
// Fills tensors with values that are the same on every machine.
#include <limits>
#include <span>

#include "common/base/random.h"
#include "libpopdist/data/tensor/visit_type.h"
#include "popdist/data_options.hpp"

namespace popdist::io {
namespace {

/// Draws one value after the other.
class Values {
 public:
  Values(const Initialiser& initialiser, std::uint64_t seed) : initialiser_(initialiser), random_(seed) {}

  double next() {
    switch (initialiser_.kind) {
      case Initialiser::Kind::kConstant:
        return initialiser_.value;
      case Initialiser::Kind::kUniform:
        return random_.unit();
      case Initialiser::Kind::kNormal:
        break;
    }
    return random_.normal();
  }

 private:
  Initialiser initialiser_;
  pop::SplitMix64 random_;
};

/// The nearest value of an integer type towards zero.
template <typename T>
T integerFrom(double value) {
  constexpr double kBeyond = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
  if (value >= kBeyond) return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
  return static_cast<T>(value);
}

template <typename T>
void fill(std::span<std::byte> bytes, Values values) {
  auto* elements = reinterpret_cast<T*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
      elements[i] = T(static_cast<float>(values.next()));
    else if constexpr (std::is_floating_point_v<T>)
      elements[i] = static_cast<T>(values.next());
    else if constexpr (std::is_same_v<T, bool>)
      elements[i] = values.next() != 0;
    else
      elements[i] = integerFrom<T>(values.next());
  }
}

}  // namespace

void initialise(TensorRefs tensors, const Initialiser& initialiser, std::uint64_t seed) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    pop::SplitMix64 mixed(seed ^ (i * 0x9E3779B97F4A7C15ULL));
    const Values values(initialiser, mixed.next());
    visitType(tensors.spec()[i].type,
              [&](auto type) { fill<typename decltype(type)::type>(tensors.bytes(i), values); });
  }
}

}  // namespace popdist::io
