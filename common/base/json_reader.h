// SPDX-License-Identifier: Apache-2.0
// Reads JSON as RFC 8259 defines it and nothing else, from files that any user may have written: headers of
// safetensors, manifests. Stricter than the RFC where it leaves a choice: names within an object differ,
// nesting ends at kJsonMostNesting, text is UTF-8 and escapes are whole characters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/status.h"

namespace pop {

inline constexpr int kJsonMostNesting = 32;

/// A value and all that is in it.
class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Member = std::pair<std::string, JsonValue>;
  using Object = std::vector<Member>;  ///< in the order of the text
  struct Number {
    std::string text;  ///< as written: no digit is lost
  };

  JsonValue() = default;  ///< null
  template <typename T>
  explicit JsonValue(T value) : value_(std::move(value)) {}

  bool isNull() const { return std::holds_alternative<std::monostate>(value_); }
  /// nullptr: the value is of another kind.
  const bool* boolean() const { return std::get_if<bool>(&value_); }
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  const Array* array() const { return std::get_if<Array>(&value_); }
  const Object* object() const { return std::get_if<Object>(&value_); }

  /// Nothing: no number, no whole one ("1.0" and "1e2" are not), or not in the range of the type.
  std::optional<std::uint64_t> uint64() const;
  std::optional<double> number() const;

  /// The member `name`; nullptr: there is none, or this is no object. Compares names one by one.
  const JsonValue* find(std::string_view name) const;

 private:
  std::variant<std::monostate, bool, Number, std::string, Array, Object> value_;
};

/// All of `text` as one value. kInvalidArgument says what is wrong at which byte.
Result<JsonValue> parseJson(std::string_view text);

}  // namespace pop
