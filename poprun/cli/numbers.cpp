// SPDX-License-Identifier: Apache-2.0
// Numbers and times as option values.
#include <cstdint>
#include <cstdlib>

#include "poprun/cli/codecs.h"

namespace pop::cli {
namespace {

constexpr std::chrono::hours kADay{24};

Result<std::int64_t> millisecondsOf(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit.empty() || unit == "s") return 1000;
  if (unit == "m" || unit == "min") return 60'000;
  if (unit == "h") return 3'600'000;
  if (unit == "d") return 86'400'000;
  return invalidArgument("no such unit");
}

}  // namespace

Result<std::chrono::milliseconds> parseDuration(std::string_view text) {
  constexpr double kMostMs = 1e12;  // 31 years
  // Avoids from_chars and llround: they alone would need libm, which every start of poprun would load.
  const std::string digits(text.substr(0, text.find_first_not_of("0123456789.-")));
  char* end = nullptr;
  const double number = std::strtod(digits.c_str(), &end);
  const auto unit = millisecondsOf(text.substr(digits.size()));
  if (digits.find_first_of("0123456789") == std::string::npos || *end != '\0' || !unit.ok()) {
    return invalidArgument(inQuotes(text) +
                           " is not a time: write seconds, such as 90 or 1.5, or 90s, 10m, 2h");
  }
  const double milliseconds = number * static_cast<double>(unit.value());
  if (milliseconds < 0 || (number == 0 && text.front() == '-')) {
    return invalidArgument(inQuotes(text) + ": must not be negative");
  }
  if (milliseconds > kMostMs) return invalidArgument(inQuotes(text) + " is too large");
  const auto rounded = static_cast<std::int64_t>(milliseconds + 0.5);
  // 0 may mean no limit: a very short time must not become no limit.
  if (rounded == 0 && number != 0) return invalidArgument(inQuotes(text) + " is less than a millisecond");
  return std::chrono::milliseconds(rounded);
}

Result<int> parseIntegerIn(std::string_view text, int least, int most) {
  POP_ASSIGN_OR_RETURN(const std::int64_t number, parseInteger(text));
  if (number > std::numeric_limits<int>::max() || number < std::numeric_limits<int>::min()) {
    return invalidArgument(inQuotes(text) + " is too large");
  }
  if (number < least) return invalidArgument(inQuotes(text) + ": must be at least " + std::to_string(least));
  if (number > most) return invalidArgument(inQuotes(text) + ": must be at most " + std::to_string(most));
  return static_cast<int>(number);
}

Codec connectTimeout() {
  return {[](Settings settings, const std::string& value) -> Status {
            POP_ASSIGN_OR_RETURN(const auto time, parseDuration(value));
            if (time.count() == 0) return invalidArgument(inQuotes(value) + ": must be greater than 0");
            if (time > kADay) return invalidArgument(inQuotes(value) + " is more than a day");
            settings.options.hosts.connect_timeout = time;
            return {};
          },
          [](ConstSettings settings) -> std::vector<std::string> {
            const auto& time = settings.options.hosts.connect_timeout;
            return time ? std::vector<std::string>{secondsText(*time)} : std::vector<std::string>{};
          }};
}

Codec hostSilence() {
  static constexpr auto kField = duration<&Options::hosts, &HostsOptions::silence>();
  return {[](Settings settings, const std::string& value) -> Status {
            POP_ASSIGN_OR_RETURN(const auto time, parseDuration(value));
            if (time < std::chrono::seconds(2))
              return invalidArgument(inQuotes(value) +
                                     ": must be at least 2 s, because hosts send a heartbeat every second");
            if (time > kADay) return invalidArgument(inQuotes(value) + " is more than a day");
            return kField.read(settings, value);
          },
          kField.write};
}

}  // namespace pop::cli
