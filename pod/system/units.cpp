// SPDX-License-Identifier: Apache-2.0
#include "pod/system/units.h"

#include <charconv>
#include <cmath>
#include <span>

#include "common/base/text.h"

namespace pop::pod {
namespace {

struct Unit {
  std::string_view name;
  double size;
};

constexpr Unit kRateUnits[] = {
    {"B/s", 1},           {"kB/s", 1e3},           {"MB/s", 1e6},     {"GB/s", 1e9},     {"TB/s", 1e12},
    {"MiB/s", 1048576.0}, {"GiB/s", 1073741824.0}, {"Mbit/s", 125e3}, {"Gbit/s", 125e6}, {"Tbit/s", 125e9}};
constexpr Unit kTimeUnits[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
constexpr double kMaxRate = 1e15;
constexpr double kMaxPicoseconds = 3600e12;

Result<double> inUnits(std::string_view number, std::string_view unit, std::span<const Unit> units,
                       std::string_view what) {
  POP_ASSIGN_OR_RETURN(const double value, numberOf(number));
  std::string names;
  for (const Unit& each : units) {
    if (each.name == unit) return value * each.size;
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return invalidArgument(inQuotes(unit) + " is no unit of a " + std::string(what) + ": use one of " + names);
}

// The largest unit in which it is a short number.
std::string inShortest(std::uint64_t amount, std::span<const Unit> units) {
  std::string best;
  for (const Unit& unit : units) {
    const std::string text =
        numberText(static_cast<double>(amount) / unit.size) + " " + std::string(unit.name);
    if (best.empty() || text.size() < best.size()) best = text;
  }
  return best;
}

}  // namespace

Result<double> numberOf(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return invalidArgument(inQuotes(text) + " is not a number");
  if (std::signbit(value)) return invalidArgument(std::string(text) + " is negative");
  return value;
}

Result<std::uint64_t> rateOf(std::string_view number, std::string_view unit) {
  POP_ASSIGN_OR_RETURN(const double rate, inUnits(number, unit, kRateUnits, "rate"));
  const double rounded = std::round(rate);
  if (rounded < 1 || rounded > kMaxRate)
    return invalidArgument("a rate of " + std::string(number) + " " + std::string(unit) +
                           ": it must be at least 1 B/s and at most 1000 TB/s");
  return static_cast<std::uint64_t>(rounded);
}

std::string rateText(std::uint64_t bytes_per_s) {
  return inShortest(bytes_per_s, std::span(kRateUnits).first(5));
}

Result<Picoseconds> timeOf(std::string_view number, std::string_view unit) {
  POP_ASSIGN_OR_RETURN(const double time, inUnits(number, unit, kTimeUnits, "time"));
  if (time > kMaxPicoseconds)
    return invalidArgument("a time of " + std::string(number) + " " + std::string(unit) +
                           " is beyond an hour");
  return Picoseconds(static_cast<std::int64_t>(std::round(time)));
}

std::string timeText(Picoseconds time) {
  return inShortest(static_cast<std::uint64_t>(time.count()), kTimeUnits);
}

}  // namespace pop::pod
