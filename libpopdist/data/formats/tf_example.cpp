// SPDX-License-Identifier: Apache-2.0
//   Example   { Features features = 1; }
//   Features  { map<string, Feature> feature = 1; }     an entry is { string key = 1; Feature value = 2; }
//   Feature   { BytesList = 1 | FloatList = 2 | Int64List = 3; }     each { repeated … value = 1; }
// Numbers may be packed or not.
#include "libpopdist/data/formats/tf_example.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/text.h"
#include "libpopdist/data/formats/proto_fields.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::io {
namespace {

using Bytes = std::span<const std::byte>;

constexpr const char* kListNames[] = {"nothing", "a bytes_list", "a float_list", "an int64_list"};

std::uint32_t listOf(Type type) {
  switch (type) {
    case Type::kUint8:
      return 1;
    case Type::kFloat:
      return 2;
    case Type::kInt64:
      return 3;
    default:
      return 0;
  }
}

pop::Status notAnExample() {
  return {pop::Code::kDataLoss, "it is no tf.train.Example"};
}

/// Fills a tensor with the values of a list, whose parts may come one by one.
class Filler {
 public:
  Filler(const TensorSpec& tensor, std::byte* to) : tensor_(tensor), to_(to), room_(tensor.bytes()) {}

  /// The message of a list of the tensor's kind. False: it is malformed.
  bool take(Bytes list) {
    ProtoFields fields(list);
    while (const auto field = fields.next())
      if (field->number == 1 && !takeValues(*field)) return false;
    return !fields.isMalformed();
  }

  pop::Status finish() const {
    const bool is_bytes = tensor_.type == Type::kUint8;
    const std::size_t size = sizeOf(tensor_.type);
    const bool has_rows = is_bytes && strings_ > 1;
    if (room_ == 0 && surplus_ == 0 &&
        (!has_rows || (!tensor_.shape.empty() && strings_ == tensor_.shape[0] && strings_are_equal_)))
      return {};
    const std::size_t got = (tensor_.bytes() - room_ + surplus_) / size;
    std::string text = "the feature " + pop::inQuotes(tensor_.name) + " has " + std::to_string(got) +
                       (is_bytes ? " bytes in " + pop::counted(static_cast<std::int64_t>(strings_), "string")
                                 : std::string(got == 1 ? " value" : " values"));
    return pop::invalidArgument(text + ", expected the " + std::to_string(tensor_.elements()) + " of " +
                                popdist::textOf(tensor_));
  }

 private:
  bool takeValues(const ProtoField& field) {
    using Kind = ProtoField::Kind;
    switch (tensor_.type) {
      case Type::kUint8:
        if (field.kind != Kind::kBytes) return false;
        strings_are_equal_ = strings_are_equal_ && (strings_ == 0 || field.bytes.size() == string_bytes_);
        string_bytes_ = field.bytes.size();
        ++strings_;
        put(field.bytes);
        return true;
      case Type::kFloat:
        if (field.kind != Kind::kFixed32 && (field.kind != Kind::kBytes || field.bytes.size() % 4 != 0))
          return false;
        put(field.bytes);
        return true;
      default:
        if (field.kind == Kind::kVarint) return putInteger(field.varint);
        return field.kind == Kind::kBytes && putPacked(field.bytes);
    }
  }

  bool putPacked(Bytes packed) {
    while (!packed.empty()) {
      const auto value = takeVarint(packed);
      if (!value || !putInteger(*value)) return false;
    }
    return true;
  }

  bool putInteger(std::uint64_t value) {
    put(std::as_bytes(std::span(&value, 1)));
    return true;
  }

  /// Bytes for which there is no room are only counted.
  void put(Bytes bytes) {
    if (bytes.size() > room_) {
      surplus_ += bytes.size();
    } else if (!bytes.empty()) {
      std::memcpy(to_ + tensor_.bytes() - room_, bytes.data(), bytes.size());
      room_ -= bytes.size();
    }
  }

  const TensorSpec& tensor_;
  std::byte* to_;
  std::size_t room_;
  std::size_t surplus_ = 0;
  std::size_t strings_ = 0;
  std::size_t string_bytes_ = 0;
  bool strings_are_equal_ = true;
};

pop::Status readFeature(Bytes feature, const TensorSpec& tensor, std::byte* to) {
  Filler filler(tensor, to);
  ProtoFields fields(feature);
  std::uint32_t kind = 0;
  while (const auto field = fields.next()) {
    if (field->number > 3) continue;
    if (field->kind != ProtoField::Kind::kBytes) return notAnExample();
    kind = field->number;
    if (kind == listOf(tensor.type) && !filler.take(field->bytes)) return notAnExample();
    if (kind != listOf(tensor.type)) break;
  }
  if (fields.isMalformed()) return notAnExample();
  if (kind == listOf(tensor.type)) return filler.finish();
  return pop::invalidArgument("the feature " + pop::inQuotes(tensor.name) + " is " + kListNames[kind] +
                              ", but a tensor of " + nameOf(tensor.type) + " takes " +
                              kListNames[listOf(tensor.type)]);
}

struct Entry {
  std::string_view key;
  Bytes value;
};

/// False: it is malformed.
bool readEntry(Bytes message, Entry& entry) {
  ProtoFields fields(message);
  while (const auto field = fields.next()) {
    if (field->number > 2) continue;
    if (field->kind != ProtoField::Kind::kBytes) return false;
    if (field->number == 1)
      entry.key = {reinterpret_cast<const char*>(field->bytes.data()), field->bytes.size()};
    else
      entry.value = field->bytes;
  }
  return !fields.isMalformed();
}

/// Calls `visit` for each feature; it returns a Status.
template <typename Visit>
pop::Status visitFeatures(Bytes message, const Visit& visit) {
  ProtoFields example(message);
  while (const auto features = example.next()) {
    if (features->number != 1) continue;
    if (features->kind != ProtoField::Kind::kBytes) return notAnExample();
    ProtoFields entries(features->bytes);
    while (const auto field = entries.next()) {
      if (field->number != 1) continue;
      Entry entry;
      if (field->kind != ProtoField::Kind::kBytes || !readEntry(field->bytes, entry)) return notAnExample();
      POP_RETURN_IF_ERROR(visit(entry));
    }
    if (entries.isMalformed()) return notAnExample();
  }
  return example.isMalformed() ? notAnExample() : pop::Status();
}

pop::Status missing(Bytes message, const std::string& name) {
  std::vector<std::string> names;
  POP_RETURN_IF_ERROR(visitFeatures(message, [&](const Entry& entry) {
    names.emplace_back(entry.key);
    return pop::Status();
  }));
  return pop::invalidArgument(
      "it has no feature " + pop::inQuotes(name) +
      (names.empty() ? ", and no other either" : ", only " + pop::printable(pop::join(names, ", "))));
}

}  // namespace

pop::Status checkFeatures(const Spec& features) {
  for (const TensorSpec& tensor : features) {
    if (listOf(tensor.type) != 0) continue;
    return pop::invalidArgument(
        "the tensor " + popdist::textOf(tensor) +
        " cannot be of a feature: those are float, int64 or, for byte strings, uint8; "
        "map() makes other types");
  }
  return {};
}

pop::Status readExample(Bytes message, TensorRefs features) {
  const Spec& spec = features.spec();
  std::array<bool, tensor::kMostTensors> is_there{};
  POP_RETURN_IF_ERROR(visitFeatures(message, [&](const Entry& entry) {
    for (std::size_t i = 0; i < spec.size(); ++i) {
      if (spec[i].name != entry.key) continue;
      is_there[i] = true;
      return readFeature(entry.value, spec[i], features.data()[i]);
    }
    return pop::Status();
  }));
  for (std::size_t i = 0; i < spec.size(); ++i)
    if (!is_there[i]) return missing(message, spec[i].name);
  return {};
}

}  // namespace popdist::io
