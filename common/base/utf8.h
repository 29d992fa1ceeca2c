// SPDX-License-Identifier: Apache-2.0
// UTF-8 as RFC 3629 defines it.
#pragma once

#include <cstddef>
#include <string_view>

namespace pop {

/// Bytes of the character outside ASCII that `text` begins with; 0 when it is damaged.
std::size_t utf8Bytes(std::string_view text);

}  // namespace pop
