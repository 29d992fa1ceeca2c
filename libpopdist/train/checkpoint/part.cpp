// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/checkpoint/part.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "common/base/json.h"
#include "common/base/text.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::train {
namespace {

constexpr std::array<std::pair<Type, const char*>, 13> kStoredTypes{{{Type::kBool, "BOOL"},
                                                                     {Type::kInt8, "I8"},
                                                                     {Type::kUint8, "U8"},
                                                                     {Type::kInt16, "I16"},
                                                                     {Type::kUint16, "U16"},
                                                                     {Type::kInt32, "I32"},
                                                                     {Type::kUint32, "U32"},
                                                                     {Type::kInt64, "I64"},
                                                                     {Type::kUint64, "U64"},
                                                                     {Type::kHalf, "F16"},
                                                                     {Type::kBfloat16, "BF16"},
                                                                     {Type::kFloat, "F32"},
                                                                     {Type::kDouble, "F64"}}};

std::string range(std::size_t first, std::size_t end) {
  return "[" + std::to_string(first) + ", " + std::to_string(end) + ")";
}

pop::Status checkRange(const Part& part) {
  POP_RETURN_IF_ERROR(tensor::checkSpec({part.tensor}));
  if (pop::validUtf8(part.tensor.name) != part.tensor.name)
    return pop::invalidArgument("the tensor's name " + pop::inQuotes(part.tensor.name) + " is not UTF-8");
  const std::size_t whole = part.tensor.elements();
  if (part.first <= whole && part.elements <= whole - part.first) return {};
  return pop::invalidArgument("a piece of " + std::to_string(part.elements) + " elements from element " +
                              std::to_string(part.first) + " on reaches over the end of the tensor " +
                              textOf(part.tensor) + ", which has " + std::to_string(whole));
}

/// Checks that `next` of the same tensor begins where the ones before end.
pop::Status checkJoins(const Part& next, std::size_t covered) {
  if (next.first == covered) return {};
  const bool is_gap = next.first > covered;
  return pop::invalidArgument(
      "the elements " +
      (is_gap ? range(covered, next.first) : range(next.first, std::min(covered, next.end()))) +
      " of the tensor " + textOf(next.tensor) + " are in " +
      (is_gap ? "no piece" : "two pieces: where instances hold the same, each saves its shareOf()"));
}

pop::Result<Part> partFrom(const pop::JsonValue& json) {
  const pop::JsonValue* name = json.find("tensor");
  const pop::JsonValue* type = json.find("dtype");
  const pop::JsonValue* first = json.find("first");
  const pop::JsonValue* elements = json.find("elements");
  if (name == nullptr || name->text() == nullptr || type == nullptr || type->text() == nullptr ||
      first == nullptr || !first->uint64() || elements == nullptr || !elements->uint64()) {
    return pop::invalidArgument("a piece lacks its tensor, dtype, first or elements");
  }
  Part part;
  part.tensor.name = *name->text();
  POP_ASSIGN_OR_RETURN(part.tensor.type, typeStoredAs(*type->text()));
  POP_ASSIGN_OR_RETURN(part.tensor.shape, shapeFrom(json.find("shape")));
  part.first = *first->uint64();
  part.elements = *elements->uint64();
  POP_RETURN_IF_ERROR(checkRange(part));
  return part;
}

}  // namespace

std::string Part::key() const {
  if (isWhole()) return tensor.name;
  return tensor.name + "@" + std::to_string(first) + ":" + std::to_string(end());
}

pop::Result<Part> partOf(const Piece& piece) {
  const std::size_t size = sizeOf(piece.type);
  Part part{{piece.name, piece.type, piece.shape}, piece.first, piece.bytes.size() / size};
  POP_RETURN_IF_ERROR(checkRange(part));
  if (piece.bytes.size() % size != 0) {
    return pop::invalidArgument("a piece of the tensor " + textOf(part.tensor) + " has " +
                                std::to_string(piece.bytes.size()) + " bytes, which are no whole elements");
  }
  return part;
}

pop::Result<Spec> wholeTensors(std::vector<Part> parts) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tie(a.tensor.name, a.first, a.elements) < std::tie(b.tensor.name, b.first, b.elements);
  });
  Spec whole;
  std::size_t covered = 0;
  const auto finished = [&]() -> pop::Status {
    if (whole.empty()) return {};
    return checkJoins({whole.back(), whole.back().elements(), 0}, covered);
  };
  for (const Part& part : parts) {
    if (whole.empty() || whole.back().name != part.tensor.name) {
      POP_RETURN_IF_ERROR(finished());
      whole.push_back(part.tensor);
      covered = 0;
    } else if (whole.back() != part.tensor) {
      return pop::invalidArgument("pieces differ in what the tensor is: " + textOf(whole.back()) + " and " +
                                  textOf(part.tensor));
    }
    if (part.elements == 0) continue;
    POP_RETURN_IF_ERROR(checkJoins(part, covered));
    covered = part.end();
  }
  POP_RETURN_IF_ERROR(finished());
  return whole;
}

std::string jsonOf(const Shape& shape) {
  std::string text;
  for (const std::size_t dimension : shape) text += (text.empty() ? "" : ",") + std::to_string(dimension);
  return "[" + text + "]";
}

std::string jsonOf(std::span<const Part> parts) {
  std::string text;
  for (const Part& part : parts) {
    text += text.empty() ? "" : ",";
    text += pop::JsonObject()
                .text("tensor", part.tensor.name)
                .text("dtype", storedName(part.tensor.type))
                .json("shape", jsonOf(part.tensor.shape))
                .json("first", std::to_string(part.first))
                .json("elements", std::to_string(part.elements))
                .str();
  }
  return "[" + text + "]";
}

pop::Result<std::vector<Part>> partsFrom(const pop::JsonValue& json) {
  if (json.array() == nullptr) return pop::invalidArgument("the pieces are no array");
  std::vector<Part> parts;
  for (const pop::JsonValue& item : *json.array()) {
    POP_ASSIGN_OR_RETURN(Part part, partFrom(item));
    parts.push_back(std::move(part));
  }
  return parts;
}

const char* storedName(Type type) {
  return std::find_if(kStoredTypes.begin(), kStoredTypes.end(),
                      [&](const auto& row) { return row.first == type; })
      ->second;
}

pop::Result<Type> typeStoredAs(const std::string& name) {
  const auto row = std::find_if(kStoredTypes.begin(), kStoredTypes.end(),
                                [&](const auto& each) { return name == each.second; });
  if (row == kStoredTypes.end())
    return pop::invalidArgument("the type " + pop::inQuotes(name) + " is none of popdist's");
  return row->first;
}

pop::Result<Shape> shapeFrom(const pop::JsonValue* json) {
  if (json == nullptr || json->array() == nullptr) return pop::invalidArgument("a shape is no array");
  Shape shape;
  for (const pop::JsonValue& dimension : *json->array()) {
    const auto size = dimension.uint64();
    if (!size) return pop::invalidArgument("a shape has a dimension that is no size");
    shape.push_back(*size);
  }
  return shape;
}

}  // namespace popdist::train
