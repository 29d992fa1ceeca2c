// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "common/base/json.h"
#include "common/base/json_reader.h"
#include "common/base/text.h"
#include "libpopdist/data/tensor/spec.h"
#include "libpopdist/train/checkpoint/part.h"

namespace popdist::train {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored as they lie in memory");

constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
constexpr const char* kMetadata = "__metadata__";

pop::Status notSafetensors(const std::string& why) {
  return {pop::Code::kDataLoss, "not a safetensors file: " + why};
}

struct Described {
  TensorSpec spec;
  std::uint64_t begin = 0;  // in the data
  std::uint64_t end = 0;
};

std::optional<std::pair<std::uint64_t, std::uint64_t>> offsetsFrom(const pop::JsonValue* json) {
  const pop::JsonValue::Array* const both = json == nullptr ? nullptr : json->array();
  if (both == nullptr || both->size() != 2) return std::nullopt;
  const auto begin = (*both)[0].uint64();
  const auto end = (*both)[1].uint64();
  if (!begin || !end || *begin > *end) return std::nullopt;
  return std::pair(*begin, *end);
}

pop::Result<Described> describedBy(const std::string& name, const pop::JsonValue& json) {
  const std::string tensor = "the tensor " + pop::inQuotes(name);
  const pop::JsonValue* const type = json.find("dtype");
  if (type == nullptr || type->text() == nullptr) return notSafetensors(tensor + " has no dtype");
  if (json.object()->size() != 3) return notSafetensors(tensor + " has other members than a tensor has");
  Described found;
  found.spec.name = name;
  pop::Result<Type> named = typeStoredAs(*type->text());
  if (!named.ok()) return notSafetensors(tensor + ": " + named.status().message());
  found.spec.type = *named;
  pop::Result<Shape> shape = shapeFrom(json.find("shape"));
  if (!shape.ok()) return notSafetensors(tensor + ": " + shape.status().message());
  found.spec.shape = std::move(shape).value();
  const auto offsets = offsetsFrom(json.find("data_offsets"));
  if (!offsets) return notSafetensors(tensor + " has no data_offsets");
  std::tie(found.begin, found.end) = *offsets;
  if (const pop::Status countable = tensor::checkSpec({found.spec}); !countable.ok())
    return notSafetensors(countable.message());
  if (found.end - found.begin != found.spec.bytes()) {
    return notSafetensors(textOf(found.spec) + " has " + std::to_string(found.spec.bytes()) +
                          " bytes, its data_offsets have " + std::to_string(found.end - found.begin));
  }
  return found;
}

pop::Status checkMetadata(const pop::JsonValue& json) {
  if (json.object() == nullptr) return notSafetensors("__metadata__ is no object");
  for (const auto& [name, value] : *json.object())
    if (value.text() == nullptr) return notSafetensors("__metadata__ has something else than strings");
  return {};
}

/// Checks that they lie one behind the other, from 0 to `data_bytes`.
pop::Status checkFills(const std::vector<Described>& tensors, std::uint64_t data_bytes) {
  std::uint64_t filled = 0;
  for (const Described& each : tensors) {
    if (each.begin != filled) {
      return notSafetensors("the bytes of the tensor " + pop::inQuotes(each.spec.name) + " begin at " +
                            std::to_string(each.begin) + ", those before end at " + std::to_string(filled));
    }
    filled = each.end;
  }
  if (filled == data_bytes) return {};
  return notSafetensors("it has " + std::to_string(data_bytes) + " bytes of data, its tensors have " +
                        std::to_string(filled));
}

}  // namespace

pop::Result<std::string> safetensorsHeader(const Spec& tensors) {
  POP_RETURN_IF_ERROR(tensor::checkSpec(tensors));
  std::string json = std::string("{\"") + kMetadata + R"(":{"format":"pt"})";
  std::size_t at = 0;
  for (const TensorSpec& tensor : tensors) {
    if (tensor.name == kMetadata) return pop::invalidArgument("no tensor can have the name __metadata__");
    const std::size_t end = at + tensor.bytes();
    (json += ',') += pop::jsonQuoted(tensor.name) + ':';
    json += pop::JsonObject()
                .text("dtype", storedName(tensor.type))
                .json("shape", jsonOf(tensor.shape))
                .json("data_offsets", jsonOf(Shape{at, end}))
                .str();
    at = end;
  }
  json += '}';
  const std::size_t whole =
      (kLengthBytes + json.size() + kFilePageBytes - 1) / kFilePageBytes * kFilePageBytes;
  const std::uint64_t length = whole - kLengthBytes;
  if (length > kMostHeaderBytes) {
    return pop::Status(pop::Code::kResourceExhausted,
                       "the list of " + pop::counted(static_cast<std::int64_t>(tensors.size()), "tensor") +
                           " takes " + pop::sizeText(length) + ", more than a safetensors file may have");
  }
  std::string header(kLengthBytes, '\0');
  std::memcpy(header.data(), &length, kLengthBytes);
  header += json;
  header.resize(whole, ' ');
  return header;
}

pop::Result<std::size_t> safetensorsHeaderBytes(std::string_view beginning, std::uint64_t file_bytes) {
  std::uint64_t length = 0;
  if (beginning.size() < kLengthBytes) return notSafetensors("it has fewer than 8 bytes");
  std::memcpy(&length, beginning.data(), kLengthBytes);
  if (length > kMostHeaderBytes || file_bytes < kLengthBytes || length > file_bytes - kLengthBytes) {
    return notSafetensors("its first 8 bytes say that " + std::to_string(length) +
                          " bytes of JSON follow, and the file has " + std::to_string(file_bytes));
  }
  return kLengthBytes + length;
}

pop::Result<std::vector<StoredTensor>> parseSafetensors(std::string_view header, std::uint64_t file_bytes) {
  POP_ASSIGN_OR_RETURN(const std::size_t bytes, safetensorsHeaderBytes(header, file_bytes));
  if (header.size() < bytes) return notSafetensors("its JSON is cut off");
  const std::string_view text = header.substr(kLengthBytes, bytes - kLengthBytes);
  if (!text.starts_with('{')) return notSafetensors("its JSON does not begin with {");
  const pop::Result<pop::JsonValue> json = pop::parseJson(text);
  if (!json.ok()) return notSafetensors(json.status().message());
  std::vector<Described> described;
  for (const auto& [name, value] : *json.value().object()) {
    if (name == kMetadata) {
      POP_RETURN_IF_ERROR(checkMetadata(value));
      continue;
    }
    POP_ASSIGN_OR_RETURN(Described tensor, describedBy(name, value));
    described.push_back(std::move(tensor));
  }
  std::sort(described.begin(), described.end(), [](const Described& a, const Described& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  POP_RETURN_IF_ERROR(checkFills(described, file_bytes - bytes));
  std::vector<StoredTensor> tensors;
  for (Described& each : described) tensors.push_back({std::move(each.spec), bytes + each.begin});
  return tensors;
}

}  // namespace popdist::train
