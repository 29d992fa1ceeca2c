// SPDX-License-Identifier: Apache-2.0
// Who holds a partition, as one word in its record: the number of a job of popdistd, or a program that holds
// it by a stream, with its token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pop::popdistd {

std::string holderOf(std::int64_t job);
/// A program of a user. `token`: letters and digits; `text`: for people.
std::string holderOf(std::string_view token, std::string_view user, std::string_view text);

/// Nothing: it is a program, or nobody.
std::optional<std::int64_t> jobOf(std::string_view holder);
/// Empty: it is a job, or nobody.
std::string tokenOf(std::string_view holder);
/// Whose program it is; empty: it is a job, or nobody.
std::string programsUser(std::string_view holder);
/// "job 12", "alice: poprun 4711 on h0".
std::string holderText(std::string_view holder);

}  // namespace pop::popdistd
