// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/tensor/spec.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "common/base/text.h"

namespace popdist {

std::size_t elementsOf(const Shape& shape) {
  std::size_t elements = 1;
  for (const std::size_t dimension : shape) elements *= dimension;
  return elements;
}

std::string textOf(const Shape& shape) {
  std::string text;
  for (const std::size_t dimension : shape) text += (text.empty() ? "" : ", ") + std::to_string(dimension);
  return "[" + text + "]";
}

std::string textOf(const TensorSpec& tensor) {
  return tensor.name + ": " + nameOf(tensor.type) + " " + textOf(tensor.shape);
}

std::string textOf(const Spec& tensors) {
  std::string text;
  for (const TensorSpec& tensor : tensors) text += (text.empty() ? "" : ", ") + textOf(tensor);
  return text;
}

namespace tensor {
namespace {

/// True if elements and bytes can be counted; dimensions of 0 make them 0.
bool isCountable(const TensorSpec& tensor) {
  std::size_t room = std::numeric_limits<std::ptrdiff_t>::max() / sizeOf(tensor.type);
  if (std::find(tensor.shape.begin(), tensor.shape.end(), 0U) != tensor.shape.end()) return true;
  for (const std::size_t dimension : tensor.shape) {
    if (dimension > room) return false;
    room /= dimension;
  }
  return true;
}

}  // namespace

pop::Status checkSpec(const Spec& spec) {
  std::set<std::string> names;
  for (const TensorSpec& tensor : spec) {
    if (tensor.name.empty()) {
      return pop::invalidArgument("a tensor of " + std::string(nameOf(tensor.type)) + " " +
                                  textOf(tensor.shape) + " has no name");
    }
    if (!names.insert(tensor.name).second)
      return pop::invalidArgument("two tensors have the name " + pop::inQuotes(tensor.name));
    if (!isCountable(tensor)) {
      return pop::invalidArgument("the tensor " + textOf(tensor) +
                                  " exceeds the address space: its shape must be known and fixed");
    }
  }
  return {};
}

pop::Status checkElementSpec(const Spec& spec, const std::string& whose) {
  POP_RETURN_IF_ERROR(checkSpec(spec));
  if (spec.empty()) return pop::invalidArgument(whose + " has no tensor");
  if (spec.size() > kMostTensors) {
    return pop::invalidArgument(whose + " has " + std::to_string(spec.size()) + " tensors, the most is " +
                                std::to_string(kMostTensors) + ": put some together");
  }
  for (const TensorSpec& tensor : spec) {
    if (tensor.elements() == 0) {
      return pop::invalidArgument(whose + " has the tensor " + textOf(tensor) +
                                  ", which has no elements: a dimension is 0");
    }
  }
  return {};
}

std::size_t bytesOf(const Spec& spec) {
  std::size_t bytes = 0;
  for (const TensorSpec& tensor : spec) bytes += tensor.bytes();
  return bytes;
}

}  // namespace tensor
}  // namespace popdist
