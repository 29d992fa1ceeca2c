// SPDX-License-Identifier: Apache-2.0
// UTF-8 as RFC 3629 defines it.
#pragma once

#include <cstddef>
#include <string_view>

namespace pop {

/// Bytes of the character outside ASCII that `text` begins with; 0 when it is damaged.
std::size_t utf8Bytes(std::string_view text);

/// Whether `character`, such a one, is a control character, U+0080 to U+009F: terminals obey some of them.
bool isC1Control(std::string_view character);

}  // namespace pop
