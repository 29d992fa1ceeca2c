// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/query.h"

#include <algorithm>
#include <charconv>

#include "common/base/text.h"

namespace pop::popdistd {

std::optional<std::string> percentDecoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned value = 0;
    const char* const begin = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(begin, begin + 2, value, 16).ptr != begin + 2)
      return std::nullopt;
    plain += static_cast<char>(value);
    i += 2;
  }
  return plain;
}

std::optional<std::string> queryValue(const std::string& query, const std::string& name) {
  for (const std::string& part : split(query, '&')) {
    const std::size_t equals = part.find('=');
    if (part.substr(0, equals) != name) continue;
    std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    std::replace(value.begin(), value.end(), '+', ' ');  // as forms write a blank
    return percentDecoded(value);
  }
  return std::nullopt;
}

Result<std::int64_t> queryNumber(const std::string& query, const std::string& name, std::int64_t missing) {
  const std::optional<std::string> value = queryValue(query, name);
  if (!value) return missing;
  const Result<std::int64_t> number = parseInteger(*value);
  if (number.ok() && number.value() >= 0) return number;
  return invalidArgument(name + '=' + printable(*value) + " is not a number from 0 on");
}

}  // namespace pop::popdistd
