// SPDX-License-Identifier: Apache-2.0
// The holder of a partition, as one word in its record: the number of a job of popdistd, or a program that
// holds it by a stream, with its token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pop::popdistd {

std::string holderOf(std::int64_t job);
/// A program of a user. `token`: letters and digits; `text`: for people.
std::string holderOf(std::string_view token, std::string_view user, std::string_view text);

/// The job's number; nothing: the holder is a program, or there is none.
std::optional<std::int64_t> jobOf(std::string_view holder);
/// The program's token; empty: the holder is a job, or there is none.
std::string tokenOf(std::string_view holder);
/// The program's user; empty: the holder is a job, or there is none.
std::string programsUser(std::string_view holder);
/// "job 12", "alice: poprun 4711 on h0".
std::string holderText(std::string_view holder);

}  // namespace pop::popdistd
