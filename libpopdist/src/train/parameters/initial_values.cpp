// SPDX-License-Identifier: Apache-2.0
// Values that parameters begin with: each from (seed, name, position) alone.
#include <cmath>

#include "common/base/random.h"
#include "libpopdist/src/tensor/visit_type.h"
#include "libpopdist/src/train/parameters/initial_values.h"

namespace popdist::train {
namespace {

std::uint64_t seedOf(std::uint64_t seed, const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ seed;  // FNV-1a
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  return hash;
}

std::size_t lastOf(const Shape& shape) {
  return shape.empty() ? 1 : shape.back();
}

double inputsOf(const Shape& shape, std::size_t given) {
  return static_cast<double>(given > 0 ? given : elementsOf(shape) / lastOf(shape));
}

InitialValues spread(InitialValues::Kind kind, double centre, std::function<double(const Shape&)> spread) {
  return {kind, centre, std::move(spread)};
}

}  // namespace

InitialValues constant(double value) {
  return {InitialValues::Kind::kConstant, value, {}};
}

InitialValues uniform(double low, double high) {
  return spread(InitialValues::Kind::kUniform, (low + high) / 2,
                [half = (high - low) / 2](const Shape&) { return half; });
}

InitialValues normal(double mean, double deviation) {
  return spread(InitialValues::Kind::kNormal, mean, [deviation](const Shape&) { return deviation; });
}

InitialValues heUniform(std::size_t inputs) {
  return spread(InitialValues::Kind::kUniform, 0,
                [inputs](const Shape& shape) { return std::sqrt(6 / inputsOf(shape, inputs)); });
}

InitialValues heNormal(std::size_t inputs) {
  return spread(InitialValues::Kind::kNormal, 0,
                [inputs](const Shape& shape) { return std::sqrt(2 / inputsOf(shape, inputs)); });
}

InitialValues glorotUniform() {
  return spread(InitialValues::Kind::kUniform, 0, [](const Shape& shape) {
    return std::sqrt(6 / (inputsOf(shape, 0) + static_cast<double>(lastOf(shape))));
  });
}

void fill(const TensorSpec& parameter, std::byte* data, const InitialValues& initial, std::uint64_t seed) {
  pop::SplitMix64 random(seedOf(seed, parameter.name));
  const double spread = initial.spread ? initial.spread(parameter.shape) : 0;
  const auto draw = [&]() -> double {
    switch (initial.kind) {
      case InitialValues::Kind::kConstant:
        return initial.centre;
      case InitialValues::Kind::kUniform:
        return initial.centre + spread * (2 * random.unit() - 1);
      case InitialValues::Kind::kNormal:
        return initial.centre + spread * random.normal();
    }
    return 0;
  };
  visitType(parameter.type, [&]<typename T>(std::type_identity<T>) {
    T* const elements = reinterpret_cast<T*>(data);
    for (std::size_t i = 0; i < parameter.elements(); ++i)
      elements[i] = static_cast<T>(static_cast<float>(draw()));
  });
}

}  // namespace popdist::train
