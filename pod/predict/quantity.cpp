// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/quantity.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <system_error>

#include "common/base/text.h"

namespace pop::pod::predict {
namespace {

constexpr double kMostSeconds = 1e6;
constexpr double kMostBytes = 1e15;

struct Unit {
  std::string_view name;
  double size;
};
constexpr Unit kTimes[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
constexpr Unit kSizes[] = {{"B", 1},      {"KB", 1e3},      {"MB", 1e6},     {"GB", 1e9},
                           {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

struct NumberAndRest {
  double number;
  std::string_view rest;
};

std::optional<NumberAndRest> numberOf(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  return NumberAndRest{number, trimmed(text.substr(static_cast<std::size_t>(end - text.data())))};
}

std::string namesOf(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

Result<double> quantity(std::string_view text, std::span<const Unit> units, double most) {
  const std::optional<NumberAndRest> parsed = numberOf(text);
  if (!parsed)
    return invalidArgument(inQuotes(text) + " is no number with a unit, such as '4.5 " +
                           std::string(units[1].name) + "'");
  if (parsed->number < 0) return invalidArgument(inQuotes(text) + " is negative");
  if (parsed->rest.empty())
    return invalidArgument(inQuotes(text) + " has no unit: add one of " + namesOf(units));
  for (const Unit& unit : units) {
    if (unit.name != parsed->rest) continue;
    const double value = parsed->number * unit.size;
    if (value <= most) return value;
    return invalidArgument(inQuotes(text) + " is more than " + numberText(most) + ' ' +
                           std::string(units[0].name));
  }
  return invalidArgument(inQuotes(parsed->rest) + " is no unit for it: use one of " + namesOf(units));
}

}  // namespace

Result<double> parseSeconds(std::string_view text) {
  return quantity(text, kTimes, kMostSeconds);
}

Result<std::uint64_t> parseBytes(std::string_view text) {
  POP_ASSIGN_OR_RETURN(const double bytes, quantity(text, kSizes, kMostBytes));
  return static_cast<std::uint64_t>(std::llround(bytes));
}

Result<std::int64_t> parseCount(std::string_view text, std::int64_t most) {
  const Result<std::int64_t> count = parseInteger(text);
  if (count.ok() && count.value() >= 1 && count.value() <= most) return count;
  return invalidArgument(inQuotes(text) + " is no whole number from 1 to " + std::to_string(most));
}

Result<double> parsePositive(std::string_view text) {
  const std::optional<NumberAndRest> parsed = numberOf(text);
  if (parsed && parsed->rest.empty() && parsed->number > 0) return parsed->number;
  return invalidArgument(inQuotes(text) + " is no number above 0");
}

std::string secondsWithUnit(double seconds) {
  const Unit* unit = &kTimes[0];
  for (const Unit& smaller : std::span(kTimes).subspan(1)) {
    if (std::abs(seconds) < unit->size && seconds != 0) unit = &smaller;
  }
  return numberText(std::round(seconds / unit->size * 1e5) / 1e5) + ' ' + std::string(unit->name);
}

}  // namespace pop::pod::predict
