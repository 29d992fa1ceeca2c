// SPDX-License-Identifier: Apache-2.0
// Finds the word that the user may have meant.
#pragma once

#include <span>
#include <string_view>

namespace pop {

/// The one of `words` with the fewest letters to insert, remove or replace; empty if `word` is so short, or
/// all of them so far away, that it is another word.
std::string_view similarWord(std::string_view word, std::span<const std::string_view> words);

}  // namespace pop
