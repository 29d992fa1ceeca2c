// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/trainer/gradient_sums.h"

#include <string>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/visit_type.h"

namespace popdist::train {
namespace {

Type typeFor(const TensorSpec& parameter, const GradientAccumulation& accumulation) {
  if (const Type* const one = std::get_if<Type>(&accumulation.type)) return *one;
  using Function = std::function<Type(const TensorSpec&)>;
  if (const Function* const function = std::get_if<Function>(&accumulation.type))
    return (*function)(parameter);
  return parameter.type;
}

/// Factors of the sum so far and of a gradient.
struct Factors {
  float sum = 1;
  float gradient = 1;
};

Factors factorsOf(const GradientAccumulation& accumulation, int index) {
  switch (accumulation.reduction) {
    case Reduction::kSum:
      break;
    case Reduction::kMean:
      return {1, 1 / static_cast<float>(accumulation.count)};
    case Reduction::kRunningMean:
      return {static_cast<float>(index) / static_cast<float>(index + 1), 1 / static_cast<float>(index + 1)};
  }
  return {};
}

template <typename Sum, typename Gradient>
void add(std::byte* to, const std::byte* from, std::size_t count, Factors factors) {
  Sum* const sums = reinterpret_cast<Sum*>(to);
  const Gradient* const gradients = reinterpret_cast<const Gradient*>(from);
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] = static_cast<Sum>(static_cast<float>(sums[i]) * factors.sum +
                               static_cast<float>(gradients[i]) * factors.gradient);
  }
}

void add(const TensorSpec& sum, std::byte* to, Type type, const std::byte* from, Factors factors) {
  visitType(sum.type, [&]<typename Sum>(std::type_identity<Sum>) {
    visitType(type, [&]<typename Gradient>(std::type_identity<Gradient>) {
      if constexpr (sizeof(Sum) <= 4 && sizeof(Gradient) <= 4 && !std::is_integral_v<Sum> &&
                    !std::is_integral_v<Gradient>)
        add<Sum, Gradient>(to, from, sum.elements(), factors);
    });
  });
}

}  // namespace

Reduction reductionNamed(std::string_view text) {
  const std::string name = pop::lowerCase(text);
  if (name == "sum") return Reduction::kSum;
  if (name == "mean") return Reduction::kMean;
  if (name == "running_mean") return Reduction::kRunningMean;
  throw popdist_error(ErrorCode::kInvalidArgument, "reductionNamed: there is no reduction " +
                                                       pop::inQuotes(text) +
                                                       ", expected sum, mean or running_mean");
}

pop::Result<Spec> accumulatorsOf(const Spec& parameters, const GradientAccumulation& accumulation) {
  Spec sums = parameters;
  for (TensorSpec& sum : sums) {
    const Type type = typeFor(sum, accumulation);
    if (type != Type::kFloat && type != Type::kHalf && type != Type::kBfloat16)
      return pop::invalidArgument("accumulation.type is " + std::string(nameOf(type)) +
                                  " for the parameter " + textOf(sum) + ", expected float, half or bfloat16");
    sum.type = type;
  }
  return sums;
}

GradientSums::GradientSums(Context& context, const Spec& parameters, const GradientAccumulation& accumulation,
                           FlatTensors& sums)
    : accumulation_(accumulation), sums_(&sums) {
  const bool directly = accumulation.reduction == Reduction::kSum && parameters == sums.spec();
  if (!directly) gradients_.emplace(context, parameters);
}

TensorRefs GradientSums::begin(int index) {
  if (index == 0) sums_->setToZero();
  if (!gradients_) return sums_->refs();
  gradients_->setToZero();
  return gradients_->refs();
}

void GradientSums::end(int index) {
  if (!gradients_) return;
  const Factors factors = factorsOf(accumulation_, index);
  for (std::size_t i = 0; i < sums_->spec().size(); ++i)
    add(sums_->spec()[i], sums_->refs().data()[i], gradients_->spec()[i].type, gradients_->refs().data()[i],
        factors);
}

}  // namespace popdist::train
