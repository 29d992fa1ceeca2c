// SPDX-License-Identifier: Apache-2.0
#include "runner/store/segments.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>

#include "runner/store/frame.h"

namespace pop::runner {
namespace {

constexpr std::size_t kDigits = 20;
constexpr std::string_view kKept = ".first", kRing = ".ring";

std::optional<Segment> parseName(std::string_view name) {
  if (name.size() <= kDigits) return std::nullopt;
  const std::string_view digits = name.substr(0, kDigits), suffix = name.substr(kDigits);
  Segment segment{.number = 0, .is_kept = suffix == kKept};
  if (!segment.is_kept && suffix != kRing) return std::nullopt;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + kDigits, segment.number);
  if (error != std::errc() || end != digits.data() + kDigits) return std::nullopt;
  if (segment.number == 0 || segment.number >= kNumberLimit) return std::nullopt;
  return segment;
}

}  // namespace

std::string Segment::fileName() const {
  const std::string digits = std::to_string(number);
  return std::string(kDigits - digits.size(), '0') + digits + std::string(is_kept ? kKept : kRing);
}

Result<std::vector<Segment>> listSegments(const std::string& directory) {
  std::vector<Segment> segments;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (const auto segment = parseName(entry->path().filename().native())) segments.push_back(*segment);
  }
  if (error == std::errc::no_such_file_or_directory) return segments;
  if (error) return errnoStatus("listing " + directory, error.value());
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
    return std::tie(a.number, b.is_kept) < std::tie(b.number, a.is_kept);
  });
  const auto have_same_number = [](const Segment& a, const Segment& b) { return a.number == b.number; };
  segments.erase(std::unique(segments.begin(), segments.end(), have_same_number), segments.end());
  return segments;
}

}  // namespace pop::runner
