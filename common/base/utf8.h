// SPDX-License-Identifier: Apache-2.0
// UTF-8 as RFC 3629 defines it.
#pragma once

#include <cstddef>
#include <string_view>

namespace pop {

/// Length of the non-ASCII character at the start of `text`; 0 if it is malformed.
std::size_t utf8Bytes(std::string_view text);

/// True if `character`, a non-ASCII one, is a control character, U+0080 to U+009F: terminals obey some of
/// them.
bool isC1Control(std::string_view character);

}  // namespace pop
