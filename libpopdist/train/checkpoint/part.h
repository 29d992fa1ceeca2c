// SPDX-License-Identifier: Apache-2.0
// Pieces without their memory: what files and instances say of them, and the rules for them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/base/json_reader.h"
#include "common/base/status.h"
#include "popdist/checkpoint.hpp"
#include "popdist/tensor.hpp"

namespace popdist::train {

/// Elements [first, first + elements) of a tensor.
struct Part {
  TensorSpec tensor;  ///< the whole one
  std::size_t first = 0;
  std::size_t elements = 0;

  std::size_t end() const { return first + elements; }
  std::size_t bytes() const { return elements * sizeOf(tensor.type); }
  bool isWhole() const { return elements == tensor.elements(); }
  /// In a file: the tensor's name if it is whole, else with "@first:end" behind it.
  std::string key() const;

  friend bool operator==(const Part&, const Part&) = default;
};

/// kInvalidArgument: it has no name, its size cannot be counted, its bytes are no whole elements, or it
/// reaches over the tensor's end.
pop::Result<Part> partOf(const Piece& piece);

/// Checks the parts of all instances, or of all files: every tensor has one type and shape, and each of its
/// elements is in one part. Returns the whole tensors, by name; kInvalidArgument names the tensor and the
/// elements.
pop::Result<Spec> wholeTensors(std::vector<Part> parts);

/// As JSON arrays of objects; the reader believes nothing.
std::string jsonOf(std::span<const Part> parts);
pop::Result<std::vector<Part>> partsFrom(const pop::JsonValue& json);

/// "F32": what safetensors calls a type.
const char* storedName(Type type);
/// kInvalidArgument: not a type of popdist.
pop::Result<Type> typeStoredAs(const std::string& name);

/// An array of sizes. kInvalidArgument: anything else.
pop::Result<Shape> shapeFrom(const pop::JsonValue* json);
std::string jsonOf(const Shape& shape);

}  // namespace popdist::train
