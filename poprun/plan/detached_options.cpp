// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/detached_options.h"

#include "common/base/text.h"
#include "common/model/job_name.h"

namespace pop {
namespace {

constexpr std::string_view kDigits = "0123456789";

// A number of a job fits an int.
bool isJobNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos && text.front() != '0' &&
         text.size() <= 9;
}

// ssh would take one that begins with '-' for an option.
bool canBeHost(std::string_view text) {
  return !text.empty() && text.front() != '-' && printable(text) == text &&
         text.find(' ') == std::string_view::npos;
}

}  // namespace

Result<JobAddress> parseJobAddress(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool has_host = colon != std::string_view::npos;
  const std::string_view host = has_host ? text.substr(0, colon) : "";
  const std::string_view job = has_host ? text.substr(colon + 1) : text;
  if ((has_host && !canBeHost(host)) || (!model::isJobName(job) && !isJobNumber(job)))
    return invalidArgument(inQuotes(text) + " is not the number or name of a job, or HOST:ID");
  return JobAddress{std::string(host), std::string(job)};
}

Result<JobAddress> parseJobsHost(std::string_view text) {
  if (!text.ends_with(':') || !canBeHost(text.substr(0, text.size() - 1)))
    return invalidArgument(inQuotes(text) + " is not a host: write HOST:, with the colon");
  return JobAddress{std::string(text.substr(0, text.size() - 1)), ""};
}

bool hasRunner(const DetachedOptions& options) {
  return options.detach || options.on_hangup == OnHangup::kDetach;
}

bool isJobCommand(const DetachedOptions& options) {
  return options.attach || options.jobs || options.logs || options.cancel;
}

}  // namespace pop
