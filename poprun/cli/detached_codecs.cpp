// SPDX-License-Identifier: Apache-2.0
// Values of options about detached jobs.
#include <algorithm>
#include <cstdint>

#include "common/model/job_name.h"
#include "poprun/cli/codecs.h"

namespace pop::cli {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::int64_t kMostMebibytes = 1 << 20;  // a tebibyte

// "64M", "64 MiB", "2G": whole mebibytes.
Result<std::int64_t> mebibytesOf(const std::string& text) {
  const std::size_t unit_at = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string unit = lowerCase(trimmed(std::string_view(text).substr(unit_at)));
  const bool is_gibibytes = unit == "g" || unit == "gib";
  const Result<std::int64_t> number = parseInteger(text.substr(0, unit_at));
  if (!number.ok() || (!is_gibibytes && unit != "m" && unit != "mib") || number.value() > kMostMebibytes)
    return invalidArgument(inQuotes(text) + " is not a size: write 64M or 2G, up to 1024G");
  const std::int64_t mebibytes = number.value() * (is_gibibytes ? 1024 : 1);
  if (mebibytes > kMostMebibytes) return invalidArgument(inQuotes(text) + ": must be at most 1024G");
  if (mebibytes < 8) return invalidArgument(inQuotes(text) + ": must be at least 8M");
  return mebibytes;
}

}  // namespace

Codec jobName() {
  return {
      [](Settings settings, const std::string& value) -> Status {
        if (!model::isJobName(value))
          return invalidArgument(inQuotes(value) +
                                 " is not a name: write letters, digits, '.', '_' and '-', at most 64, and "
                                 "not only digits");
        settings.options.detached.name = value;
        return {};
      },
      [](ConstSettings) { return std::vector<std::string>{}; }};
}

Codec jobsOfHost() {
  return {[](Settings settings, const std::string& value) -> Status {
            if (value == "yes") {  // left out
              settings.options.detached.jobs = JobAddress();
              return {};
            }
            POP_ASSIGN_OR_RETURN(settings.options.detached.jobs, parseJobsHost(value));
            return {};
          },
          [](ConstSettings) { return std::vector<std::string>{}; }};
}

Codec logLimit() {
  return {[](Settings settings, const std::string& value) -> Status {
            POP_ASSIGN_OR_RETURN(const std::int64_t mebibytes, mebibytesOf(value));
            settings.options.detached.log_limit_bytes = mebibytes * kMebibyte;
            return {};
          },
          [](ConstSettings settings) -> std::vector<std::string> {
            return {std::to_string(settings.options.detached.log_limit_bytes / kMebibyte) + 'M'};
          }};
}

Codec onHangup() {
  return {[](Settings settings, const std::string& value) -> Status {
            if (value != "stop" && value != "detach")
              return invalidArgument(inQuotes(value) + " is not stop or detach");
            settings.options.detached.on_hangup = value == "stop" ? OnHangup::kStop : OnHangup::kDetach;
            return {};
          },
          [](ConstSettings settings) -> std::vector<std::string> {
            return {settings.options.detached.on_hangup == OnHangup::kStop ? "stop" : "detach"};
          }};
}

}  // namespace pop::cli
