// SPDX-License-Identifier: Apache-2.0
// The little JSON that this project writes and merges, without a library: libpopdist lives inside other
// people's programs, which may have their own copies of one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pop {

/// `text` as a JSON string, with quotes. Bytes that are not UTF-8 become U+FFFD, so that the result is valid
/// JSON whatever a user's variables contain.
std::string jsonQuoted(std::string_view text);

/// A JSON object, member by member.
class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value) { return json(key, jsonQuoted(value)); }
  JsonObject& number(std::string_view key, std::int64_t value) { return json(key, std::to_string(value)); }
  JsonObject& boolean(std::string_view key, bool value) { return json(key, value ? "true" : "false"); }
  JsonObject& json(std::string_view key, std::string_view value);  ///< a value that is JSON already

  std::string str() const { return '{' + members_ + '}'; }

 private:
  std::string members_;
};

/// Merges two JSON objects: the members of `over` replace those of `base`; values stay as they are written.
/// Returns `over` alone if either is not an object.
std::string mergedJsonObjects(std::string_view base, std::string_view over);

}  // namespace pop
