// SPDX-License-Identifier: Apache-2.0
// Small text helpers: parse and print numbers and lists. Errors name what was wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace pop {

/// The whole of `text` as a decimal integer. kInvalidArgument on anything else, kOutOfRange beyond int64.
Result<std::int64_t> parseInteger(std::string_view text);

/// yes/no, on/off, true/false, 1/0 in any case: PopRun's spellings of a boolean.
Result<bool> parseBool(std::string_view text);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);

/// `text` without blanks, tabs and carriage returns at its ends. Lines have lost their newline before.
std::string_view trimmed(std::string_view text);

/// `text` with ASCII capitals in lower case.
std::string lowerCase(std::string_view text);

/// True if `pattern` describes the whole of `text`: '*' stands for any characters, '?' for one.
bool matchesWildcards(std::string_view text, std::string_view pattern);

/// "1 instance", "3 instances": for messages that people read.
std::string counted(std::int64_t count, std::string_view noun);

/// "12.3 MB": bytes for people, with units of 1000.
std::string sizeText(std::uint64_t bytes);

/// "0.1", "1e-06", "inf": the shortest text that reads back as `number`.
std::string numberText(double number);

/// "90", "1.5": seconds, without their unit.
std::string secondsText(std::chrono::milliseconds time);

/// `text` with control characters and invalid UTF-8 escaped ("\x1b"), so that it cannot affect a terminal.
std::string printable(std::string_view text);

/// `text` with the bytes that are not UTF-8 escaped as printable() escapes them, which makes the same of
/// both.
std::string validUtf8(std::string_view text);

inline constexpr std::size_t kMostTextBytes = 4096;
inline constexpr std::size_t kMostStackTraceBytes = 1 << 16;  ///< of one instance
/// Another process's text, for people: validUtf8(text), but at most `most` bytes, the last of which count
/// what is left out: "… and 61440 more bytes". Of what has been cut once, it is the same.
std::string bounded(std::string_view text, std::size_t most = kMostTextBytes);

/// 'text' in single quotes, with control characters escaped, for use inside a message.
std::string inQuotes(std::string_view text);

}  // namespace pop
