// SPDX-License-Identifier: Apache-2.0
// Tensor and Tensors: memory, and the checks of access.
#include "popdist/tensor.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist {
namespace {

constexpr std::align_val_t kAlignment{64};

TensorSpec checked(TensorSpec spec) {
  throwIfError(tensor::checkSpec({spec}), "Tensor");
  return spec;
}

tensor_detail::Memory allocate(const TensorSpec& spec) {
  const std::size_t bytes = spec.bytes();
  try {
    return tensor_detail::Memory(
        static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), kAlignment)));
  } catch (const std::bad_alloc&) {
    throw popdist_error(ErrorCode::kResourceExhausted,
                        "Tensor: no memory for the " + std::to_string(bytes) + " bytes of " + textOf(spec));
  }
}

}  // namespace

namespace tensor_detail {

void Free::operator()(std::byte* memory) const noexcept {
  ::operator delete(memory, kAlignment);
}

void checkType(const TensorSpec& tensor, Type type) {
  if (tensor.type == type) return;
  throw popdist_error(ErrorCode::kInvalidArgument, "the tensor " + textOf(tensor) + " has no elements of " +
                                                       nameOf(type) + ": it is read as its own type");
}

std::size_t positionOf(const Spec& tensors, std::string_view name) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].name == name) return i;
  throw popdist_error(ErrorCode::kNotFound, "there is no tensor " + pop::inQuotes(std::string(name)) +
                                                "; there " +
                                                (tensors.empty() ? "are none" : "is " + textOf(tensors)));
}

void checkPosition(const Spec& tensors, std::size_t position) {
  if (position < tensors.size()) return;
  throw popdist_error(ErrorCode::kOutOfRange, "there is no tensor at position " + std::to_string(position) +
                                                  "; there " +
                                                  (tensors.empty() ? "are none" : "is " + textOf(tensors)));
}

}  // namespace tensor_detail

Tensor::Tensor(TensorSpec spec) : spec_(checked(std::move(spec))), memory_(allocate(spec_)) {
  std::memset(memory_.get(), 0, spec_.bytes());
}

void Tensor::assign(std::span<const std::byte> values, std::size_t elements) {
  if (elements != spec_.elements()) {
    throw popdist_error(ErrorCode::kInvalidArgument, "Tensor.of: " + textOf(spec_) + " has " +
                                                         std::to_string(spec_.elements()) +
                                                         " elements, got " + std::to_string(elements));
  }
  if (!values.empty()) std::memcpy(memory_.get(), values.data(), values.size());
}

Tensor Tensor::clone() const {
  Tensor copy(spec_);
  std::memcpy(copy.memory_.get(), memory_.get(), spec_.bytes());
  return copy;
}

Tensors::Tensors(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
  for (Tensor& tensor : tensors_) {
    spec_.push_back(tensor.spec());
    data_.push_back(tensor.bytes().data());
  }
  throwIfError(tensor::checkSpec(spec_), "Tensors");
}

Tensors::Tensors(const Spec& spec)
    : Tensors([&] {
        std::vector<Tensor> tensors;
        for (const TensorSpec& tensor : spec) tensors.emplace_back(tensor);
        return tensors;
      }()) {}

Tensors Tensors::clone() const {
  std::vector<Tensor> copies;
  for (const Tensor& tensor : tensors_) copies.push_back(tensor.clone());
  return Tensors(std::move(copies));
}

}  // namespace popdist
