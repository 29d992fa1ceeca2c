// SPDX-License-Identifier: Apache-2.0
// The little JSON that we write and merge ourselves, without a library: libpopdist lives inside other
// people's programs, next to their own copies.
#pragma once

#include <string>
#include <string_view>

namespace pop {

/// `text` as a JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD, so that the result is
/// valid JSON whatever a user's variables hold.
std::string jsonQuoted(std::string_view text);

/// The members of `over` put over those of `base`, both JSON objects; a member's value is kept as it is
/// written. `over` alone when either of them is no object.
std::string mergedJsonObjects(std::string_view base, std::string_view over);

}  // namespace pop
