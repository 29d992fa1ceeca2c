// SPDX-License-Identifier: Apache-2.0
// The little JSON that we write and merge ourselves, without a library: libpopdist lives inside other
// people's programs, next to their own copies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pop {

/// `text` as a JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD, so that the result is
/// valid JSON whatever a user's variables hold.
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

/// The members of `over` put over those of `base`, both JSON objects; a member's value is kept as it is
/// written. `over` alone when either of them is no object.
std::string mergedJsonObjects(std::string_view base, std::string_view over);

}  // namespace pop
