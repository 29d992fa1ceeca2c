// SPDX-License-Identifier: Apache-2.0
#include "popdist/parameters.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"
#include "libpopdist/train/parameters/initial_values.h"

namespace popdist::train {
namespace {

constexpr std::size_t kAlignmentBytes = 64;

std::size_t rounded(std::size_t bytes) {
  return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
}

pop::Status checkParameter(const TensorSpec& parameter) {
  const Type type = parameter.type;
  if (type != Type::kFloat && type != Type::kHalf && type != Type::kBfloat16)
    return pop::invalidArgument("the parameter " + textOf(parameter) +
                                " cannot be trained: expected float, half or bfloat16");
  if (parameter.elements() == 0)
    return pop::invalidArgument("the parameter " + textOf(parameter) + " has no elements");
  return pop::Status();
}

}  // namespace

std::size_t Parameters::add(std::string name, Shape shape, InitialValues initial, Type type) {
  Spec with = spec_;
  with.push_back({std::move(name), type, std::move(shape)});
  throwIfError(tensor::checkSpec(with), "Parameters.add");
  throwIfError(checkParameter(with.back()), "Parameters.add");
  throwIfError(checkInitial(with.back(), initial), "Parameters.add");
  spec_ = std::move(with);
  initial_.push_back(std::move(initial));
  return spec_.size() - 1;
}

std::size_t Parameters::elements() const {
  std::size_t elements = 0;
  for (const TensorSpec& parameter : spec_) elements += parameter.elements();
  return elements;
}

void Parameters::initialise(TensorRefs values, std::uint64_t seed) const {
  if (values.spec() != spec_) {
    throwIfError(pop::invalidArgument("the tensors are " + textOf(values.spec()) + ", the parameters " +
                                      textOf(spec_)),
                 "Parameters.initialise");
  }
  for (std::size_t i = 0; i < spec_.size(); ++i) fill(spec_[i], values.data()[i], initial_[i], seed);
}

FlatTensors::FlatTensors(Context& context, Spec spec)
    : spec_(std::make_unique<const Spec>(std::move(spec))), memory_(context, [&] {
        throwIfError(tensor::checkSpec(*spec_), "FlatTensors");
        return bytesOf(*spec_);
      }()) {
  setToZero();
  std::byte* next = memory_.as<std::byte>();
  for (const TensorSpec& tensor : *spec_) {
    data_.push_back(next);
    next += rounded(tensor.bytes());
  }
}

std::size_t FlatTensors::bytesOf(std::span<const TensorSpec> spec) {
  std::size_t bytes = 0;
  for (const TensorSpec& tensor : spec) bytes += rounded(tensor.bytes());
  return bytes;
}

void FlatTensors::setToZero() {
  if (memory_.bytes() > 0) std::memset(memory_.data(), 0, memory_.bytes());
}

std::vector<FlatTensors::Run> FlatTensors::runs() const {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < spec_->size(); ++i) {
    const TensorSpec& tensor = (*spec_)[i];
    if (runs.empty() || runs.back().type != tensor.type) runs.push_back({tensor.type, data_[i], 0});
    runs.back().elements += rounded(tensor.bytes()) / sizeOf(tensor.type);
  }
  return runs;
}

}  // namespace popdist::train
