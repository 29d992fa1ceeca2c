// SPDX-License-Identifier: Apache-2.0
// Values that parameters begin with: each from (seed, name, position) alone.
#include <cmath>
#include <limits>
#include <string>

#include "common/base/random.h"
#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/visit_type.h"
#include "libpopdist/train/parameters/initial_values.h"

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

/// The largest number that parameters of the type have.
double mostOf(Type type) {
  if (type == Type::kHalf) return 65504;
  const auto of_float = static_cast<double>(std::numeric_limits<float>::max());
  return type == Type::kBfloat16 ? 0x1.fep127 : of_float;
}

void checkFinite(double value, const char* what, const char* function) {
  if (std::isfinite(value)) return;
  throwIfError(pop::invalidArgument(std::string(what) + " is " + pop::numberText(value) +
                                    ", expected a finite number"),
               function);
}

}  // namespace

InitialValues constant(double value) {
  checkFinite(value, "value", "constant");
  return {InitialValues::Kind::kConstant, value, {}};
}

InitialValues uniform(double low, double high) {
  checkFinite(low, "low", "uniform");
  checkFinite(high, "high", "uniform");
  if (low > high)
    throwIfError(pop::invalidArgument("low is " + pop::numberText(low) + " and high " +
                                      pop::numberText(high) + ", expected low to be at most high"),
                 "uniform");
  return spread(InitialValues::Kind::kUniform, low / 2 + high / 2,
                [half = high / 2 - low / 2](const Shape&) { return half; });
}

InitialValues normal(double mean, double deviation) {
  checkFinite(mean, "mean", "normal");
  checkFinite(deviation, "deviation", "normal");
  if (deviation < 0)
    throwIfError(pop::invalidArgument("deviation is " + pop::numberText(deviation) + ", expected 0 or more"),
                 "normal");
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

pop::Status checkInitial(const TensorSpec& parameter, const InitialValues& initial) {
  const double spread = initial.spread ? initial.spread(parameter.shape) : 0;
  const double most = mostOf(parameter.type);
  if (std::abs(initial.centre) + std::abs(spread) <= most) return {};
  const bool varies = initial.kind != InitialValues::Kind::kConstant;
  return pop::invalidArgument(
      "the parameter " + textOf(parameter) + " begins with " + pop::numberText(initial.centre) +
      (varies ? " ± " + pop::numberText(spread) : "") + ", expected numbers of at most " +
      pop::numberText(most) + ", which its type can hold");
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
