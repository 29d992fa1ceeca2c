// SPDX-License-Identifier: Apache-2.0
#include "common/base/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace pop {
namespace {

bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

// The well-formed sequences of RFC 3629 by their first byte: their length, and the range of the second byte
// (which excludes overlong forms, surrogates and code points above U+10FFFF).
struct Utf8Lead {
  std::uint8_t first;
  std::uint8_t last;
  std::uint8_t bytes;
  std::uint8_t second_least = 0x80;
  std::uint8_t second_most = 0xbf;
};
constexpr std::array kLeads{
    Utf8Lead{0xc2, 0xdf, 2}, Utf8Lead{0xe0, 0xe0, 3, 0xa0},
    Utf8Lead{0xe1, 0xec, 3}, Utf8Lead{0xed, 0xed, 3, 0x80, 0x9f},
    Utf8Lead{0xee, 0xef, 3}, Utf8Lead{0xf0, 0xf0, 4, 0x90},
    Utf8Lead{0xf1, 0xf3, 4}, Utf8Lead{0xf4, 0xf4, 4, 0x80, 0x8f},
};

}  // namespace

std::size_t utf8Bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  for (const Utf8Lead& lead : kLeads) {
    if (first < lead.first || first > lead.last) continue;
    if (text.size() < lead.bytes) return 0;
    const auto second = static_cast<unsigned char>(text[1]);
    if (second < lead.second_least || second > lead.second_most) return 0;
    const std::string_view rest = text.substr(2, lead.bytes - 2U);
    return std::all_of(rest.begin(), rest.end(), isContinuation) ? lead.bytes : 0;
  }
  return 0;
}

bool isC1Control(std::string_view character) {
  return character.size() == 2 && character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
}

}  // namespace pop
