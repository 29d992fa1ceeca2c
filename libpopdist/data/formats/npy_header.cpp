// SPDX-License-Identifier: Apache-2.0
// Versions 1 to 3 differ in the width of the length and in the text's encoding, which matters for names of
// fields only: arrays with fields are refused.
#include "libpopdist/data/formats/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/text.h"

namespace popdist::io {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kMostTextBytes = 1024 * 1024;
constexpr std::size_t kMostDimensions = 64;  // NumPy's own limit

/// Reads literals of Python off the start of a text.
class Literals {
 public:
  explicit Literals(std::string_view text) : rest_(text) {}

  bool take(char character) {
    skipBlanks();
    if (!rest_.starts_with(character)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<std::string_view> string() {
    skipBlanks();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<bool> boolean() {
    skipBlanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    return std::nullopt;
  }

  /// (), (3,), (3, 4): also with the L that Python 2 wrote after long integers. False: it is none.
  bool shape(Shape& shape) {
    if (!take('(')) return false;
    while (!take(')')) {
      skipBlanks();
      std::size_t dimension = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dimension);
      if (error != std::errc() || shape.size() == kMostDimensions) return false;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (rest_.starts_with('L')) rest_.remove_prefix(1);
      shape.push_back(dimension);
      if (!take(',')) return take(')');
    }
    return true;
  }

  bool isAtEnd() {
    skipBlanks();
    return rest_.empty();
  }

  std::string_view rest() {
    skipBlanks();
    return rest_;
  }

 private:
  void skipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }

  std::string_view rest_;
};

pop::Status notNpy(const std::string& name, const std::string& why) {
  return pop::invalidArgument(pop::inQuotes(name) + " is not an .npy file: " + why);
}

pop::Status cannotRead(const std::string& name, const std::string& what, const std::string& cure) {
  return pop::invalidArgument(pop::inQuotes(name) + " holds " + what + ", which cannot be read: " + cure);
}

pop::Result<Type> typeFrom(std::string_view descr, const std::string& name) {
  struct Known {
    std::string_view code;
    Type type;
  };
  static constexpr Known kKnown[] = {{"b1", Type::kBool},   {"i1", Type::kInt8},   {"u1", Type::kUint8},
                                     {"i2", Type::kInt16},  {"u2", Type::kUint16}, {"i4", Type::kInt32},
                                     {"u4", Type::kUint32}, {"i8", Type::kInt64},  {"u8", Type::kUint64},
                                     {"f2", Type::kHalf},   {"f4", Type::kFloat},  {"f8", Type::kDouble}};
  const std::string quoted = pop::inQuotes(descr);
  const char order = descr.empty() ? ' ' : descr[0];
  const std::string_view code = descr.substr(std::min<std::size_t>(1, descr.size()));
  const auto* known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                   [&](const Known& entry) { return entry.code == code; });
  if (known != std::end(kKnown) && (order == '<' || (order == '|' && sizeOf(known->type) == 1)))
    return known->type;
  if (known != std::end(kKnown) && order == '>') {
    return cannotRead(name, "big-endian elements (" + quoted + ")",
                      "save array.astype(array.dtype.newbyteorder('<'))");
  }
  switch (code.empty() ? ' ' : code[0]) {
    case 'O':
      return cannotRead(name, "Python objects (" + quoted + ")", "save an array of numbers");
    case 'V':
      return cannotRead(name, "elements of raw memory (" + quoted + ")", "save an array of numbers");
    case 'S':
    case 'U':
      return cannotRead(name, "text (" + quoted + ")", "save an array of numbers");
    default:
      return cannotRead(name, "elements of type " + quoted,
                        "it must be bool, an integer, or a float of 16, 32 or 64 bits");
  }
}

/// The dictionary's values, before anything is believed.
struct Fields {
  std::string_view descr;
  bool is_fortran_order = false;
  Shape shape;
};

/// The value of `key`. False: it is none.
bool takeValue(std::string_view key, Literals& literals, Fields& fields) {
  if (key == "shape") return literals.shape(fields.shape);
  if (key == "descr") {
    const auto text = literals.string();
    fields.descr = text.value_or("");
    return text.has_value();
  }
  const auto value = literals.boolean();
  fields.is_fortran_order = value.value_or(false);
  return value.has_value();
}

pop::Result<Fields> fieldsFrom(std::string_view text, const std::string& name) {
  constexpr std::array<std::string_view, 3> kKeys{"descr", "fortran_order", "shape"};
  std::array<bool, kKeys.size()> is_there{};
  Literals literals(text);
  Fields fields;
  if (!literals.take('{')) return notNpy(name, "its header does not begin with {");
  while (!literals.take('}')) {
    const auto key = literals.string();
    if (!key || !literals.take(':')) return notNpy(name, "its header is no dictionary");
    if (*key == "descr" && literals.rest().starts_with('['))
      return cannotRead(name, "elements with fields (a structured type)", "save each field as a file");
    const auto known = std::find(kKeys.begin(), kKeys.end(), *key);
    if (known == kKeys.end() ||
        std::exchange(is_there[static_cast<std::size_t>(known - kKeys.begin())], true))
      return notNpy(name, "its header has the key " + pop::inQuotes(*key) + " twice or needlessly");
    if (!takeValue(*key, literals, fields))
      return notNpy(name, "its header has no value for the key " + pop::inQuotes(*key));
    if (!literals.take(',') && !literals.rest().starts_with('}'))
      return notNpy(name, "its header has something behind the value of " + pop::inQuotes(*key));
  }
  if (!literals.isAtEnd()) return notNpy(name, "its header goes on behind its }");
  if (std::find(is_there.begin(), is_there.end(), false) != is_there.end())
    return notNpy(name, "its header has not all of descr, fortran_order and shape");
  return fields;
}

pop::Status checkShape(const Shape& shape, const std::string& name) {
  if (shape.empty())
    return pop::invalidArgument(pop::inQuotes(name) + " holds a scalar: the first dimension counts elements");
  const auto zero = std::find(shape.begin(), shape.end(), 0U);
  if (zero == shape.end()) return {};
  return pop::invalidArgument(pop::inQuotes(name) + " is empty: its dimension " +
                              std::to_string(zero - shape.begin()) + " is 0");
}

}  // namespace

pop::Result<NpyHeader> parseNpyHeader(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!file.starts_with(kNpyMagic)) return notNpy(name, "it does not begin with 93 'NUMPY'");
  const pop::Status cut(pop::Code::kDataLoss, pop::inQuotes(name) + " is truncated: its header is cut");
  if (file.size() < kNpyMagic.size() + 2) return cut;
  const auto version = static_cast<unsigned char>(file[kNpyMagic.size()]);
  if (version < 1 || version > 3)
    return notNpy(name, "its version is " + std::to_string(version) + ", expected 1, 2 or 3");
  const std::size_t width = version == 1 ? 2 : 4;
  const std::size_t begin = kNpyMagic.size() + 2 + width;
  if (file.size() < begin) return cut;
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i)
    length |= std::size_t{static_cast<unsigned char>(file[kNpyMagic.size() + 2 + i])} << (8 * i);
  if (length > kMostTextBytes) return notNpy(name, "its header is " + std::to_string(length) + " bytes long");
  if (file.size() - begin < length) return cut;

  POP_ASSIGN_OR_RETURN(Fields fields, fieldsFrom(file.substr(begin, length), name));
  NpyHeader header{.shape = std::move(fields.shape), .bytes = begin + length};
  POP_ASSIGN_OR_RETURN(header.type, typeFrom(fields.descr, name));
  POP_RETURN_IF_ERROR(checkShape(header.shape, name));
  // Both orders are the same if one dimension at most is longer than 1.
  const auto longer =
      std::count_if(header.shape.begin(), header.shape.end(), [](auto size) { return size > 1; });
  if (fields.is_fortran_order && longer > 1)
    return cannotRead(name, "an array in Fortran order", "save numpy.ascontiguousarray(array)");
  return header;
}

}  // namespace popdist::io
