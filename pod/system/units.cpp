// SPDX-License-Identifier: Apache-2.0
#include "pod/system/units.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <system_error>

#include "common/base/text.h"

namespace pop::pod {
namespace {

struct Unit {
  std::string_view name;
  double size;
};

constexpr Unit kRates[] = {
    {"B/s", 1},           {"kB/s", 1e3},           {"MB/s", 1e6},     {"GB/s", 1e9},     {"TB/s", 1e12},
    {"MiB/s", 1048576.0}, {"GiB/s", 1073741824.0}, {"Mbit/s", 125e3}, {"Gbit/s", 125e6}, {"Tbit/s", 125e9}};
constexpr Unit kTimes[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
constexpr Unit kSizes[] = {{"B", 1},      {"KB", 1e3},      {"MB", 1e6},     {"GB", 1e9},
                           {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
constexpr std::uint64_t kMostBytes = 1'000'000'000'000'000;  // also a second

struct NumberAndRest {
  double number;
  std::string_view rest;
};

std::optional<NumberAndRest> parsed(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  return NumberAndRest{number, trimmed(text.substr(static_cast<std::size_t>(end - text.data())))};
}

// In the unit in which it is a short number, without an exponent.
std::string inShortest(std::uint64_t amount, std::span<const Unit> units) {
  std::string best;
  for (const Unit& unit : units) {
    const std::string number = numberText(static_cast<double>(amount) / unit.size);
    const std::string text = number + " " + std::string(unit.name);
    const bool has_exponent = number.find('e') != std::string::npos;
    if (best.empty() ||
        (!has_exponent && (text.size() < best.size() || best.find("e+") != std::string::npos)))
      best = text;
  }
  return best;
}

std::string namesOf(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

// A whole number of the first unit.
Result<std::uint64_t> amountOf(std::string_view text, std::span<const Unit> units, std::uint64_t most) {
  const std::optional<NumberAndRest> read = parsed(text);
  if (!read)
    return invalidArgument(inQuotes(text) + " is no number with a unit, such as '4.5 " +
                           std::string(units[2].name) + "'");
  if (std::signbit(read->number)) return invalidArgument(inQuotes(text) + " is negative");
  if (read->rest.empty())
    return invalidArgument(inQuotes(text) + " has no unit: add one of " + namesOf(units));
  for (const Unit& unit : units) {
    if (unit.name != read->rest) continue;
    const double amount = std::round(read->number * unit.size);
    if (amount <= static_cast<double>(most)) return static_cast<std::uint64_t>(amount);
    return invalidArgument(inQuotes(text) + " is more than " + inShortest(most, units));
  }
  return invalidArgument(inQuotes(read->rest) + " is no unit for it: use one of " + namesOf(units));
}

}  // namespace

Result<double> numberOf(std::string_view text) {
  const std::optional<NumberAndRest> read = parsed(text);
  if (!read || !read->rest.empty()) return invalidArgument(inQuotes(text) + " is not a number");
  if (std::signbit(read->number)) return invalidArgument(std::string(text) + " is negative");
  return read->number;
}

Result<double> positiveOf(std::string_view text) {
  const Result<double> number = numberOf(text);
  if (number.ok() && number.value() > 0) return number;
  return invalidArgument(inQuotes(text) + " is no number above 0");
}

Result<std::int64_t> countOf(std::string_view text, std::int64_t most) {
  const Result<std::int64_t> count = parseInteger(text);
  if (count.ok() && count.value() >= 1 && count.value() <= most) return count;
  return invalidArgument(inQuotes(text) + " is no whole number from 1 to " + std::to_string(most));
}

Result<std::uint64_t> rateOf(std::string_view text) {
  POP_ASSIGN_OR_RETURN(const std::uint64_t rate, amountOf(text, kRates, kMostBytes));
  if (rate < 1) return invalidArgument(inQuotes(text) + " is less than 1 B/s");
  return rate;
}

std::string rateText(std::uint64_t bytes_per_s) {
  return inShortest(bytes_per_s, std::span(kRates).first(5));
}

Result<Picoseconds> timeOf(std::string_view text, Picoseconds most) {
  POP_ASSIGN_OR_RETURN(const std::uint64_t time,
                       amountOf(text, kTimes, static_cast<std::uint64_t>(most.count())));
  return Picoseconds(static_cast<std::int64_t>(time));
}

std::string timeText(Picoseconds time) {
  return inShortest(static_cast<std::uint64_t>(time.count()), kTimes);
}

std::string secondsWithUnit(double seconds) {
  std::string_view name = "s";
  double scaled = seconds;
  for (const std::string_view smaller : {"ms", "us", "ns"}) {
    if (scaled == 0 || std::abs(scaled) >= 1) break;
    name = smaller;
    scaled *= 1e3;
  }
  return numberText(std::round(scaled * 1e5) / 1e5) + ' ' + std::string(name);
}

Result<std::uint64_t> bytesOf(std::string_view text) {
  return amountOf(text, kSizes, kMostBytes);
}

}  // namespace pop::pod
