// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/json_line.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace pop::bench {
namespace {

std::string quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      quoted += '\\';
      quoted += character;
    } else if (code < 0x20 || code >= 0x7f) {  // other bytes may be no UTF-8: read as Latin-1
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", code);
      quoted += escape.data();
    } else {
      quoted += character;
    }
  }
  return quoted + '"';
}

}  // namespace

JsonLine& JsonLine::add(std::string_view name, std::string_view value) {
  return addVerbatim(name, quoted(value));
}

JsonLine& JsonLine::add(std::string_view name, double value) {
  if (!std::isfinite(value)) return addNull(name);
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.6g", value);
  return addVerbatim(name, digits.data());
}

JsonLine& JsonLine::addVerbatim(std::string_view name, std::string_view value) {
  if (!fields_.empty()) fields_ += ", ";
  fields_ += quoted(name) + ": ";
  fields_ += value;
  return *this;
}

}  // namespace pop::bench
