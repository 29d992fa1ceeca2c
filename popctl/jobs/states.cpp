// SPDX-License-Identifier: Apache-2.0
#include "popctl/jobs/states.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "common/base/text.h"
#include "common/model/job_name.h"

namespace pop::popctl {
namespace {

constexpr std::array kStates{"queued", "held", "starting", "running", "ending", "ended"};
constexpr std::array kHostStates{"up", "silent", "down"};
constexpr int kMostSignal = 64;

std::string endText(v1::JobEnd end) {
  switch (end) {
    case v1::END_SUCCEEDED:
      return "succeeded";
    case v1::END_FAILED:
      return "failed";
    case v1::END_CANCELLED:
      return "cancelled";
    case v1::END_TIMED_OUT:
      return "timed out";
    case v1::END_LOST:
      return "lost";
    default:
      return "ended";
  }
}

}  // namespace

std::string stateText(const v1::JobInfo& job) {
  if (job.state() == v1::JOB_ENDED) return endText(job.end());
  const auto index = static_cast<std::size_t>(job.state());
  return index < kStates.size() ? kStates[index] : "?";
}

bool waits(const v1::JobInfo& job) {
  return job.state() == v1::JOB_QUEUED || job.state() == v1::JOB_HELD;
}

std::string stateText(const v1::HostInfo& host) {
  const auto index = static_cast<std::size_t>(host.state());
  const std::string state = index < kHostStates.size() ? kHostStates[index] : "?";
  return host.drained() ? state + ",drained" : state;
}

Result<std::vector<v1::JobState>> parseStates(std::string_view text) {
  std::vector<v1::JobState> states;
  for (const std::string& word : split(text, ',')) {
    const auto* const at = std::find(kStates.begin(), kStates.end(), lowerCase(word));
    if (at == kStates.end())
      return invalidArgument(inQuotes(word) +
                             " is not a state: write queued, held, starting, running, ending or ended");
    states.push_back(static_cast<v1::JobState>(at - kStates.begin()));
  }
  return states;
}

Result<int> parseSignal(const std::string& text) {
  if (const Result<std::int64_t> number = parseInteger(text); number.ok()) {
    if (number.value() >= 1 && number.value() <= kMostSignal) return static_cast<int>(number.value());
    return invalidArgument("signal " + text + " is not one of 1 to 64");
  }
  std::string name = lowerCase(text);
  if (name.starts_with("sig")) name.erase(0, 3);
  for (int signal = 1; signal <= kMostSignal; ++signal) {
    const char* const known = sigabbrev_np(signal);
    if (known != nullptr && lowerCase(known) == name) return signal;
  }
  return invalidArgument(inQuotes(text) + " is not a signal: write its name or number, such as TERM or 15");
}

Result<v1::JobRef> parseJob(const std::string& text) {
  v1::JobRef job;
  if (const Result<std::int64_t> id = parseInteger(text); id.ok() && id.value() > 0) {
    job.set_id(id.value());
    return job;
  }
  if (!model::isJobName(text)) return invalidArgument(inQuotes(text) + " is not the number or name of a job");
  job.set_name(text);
  return job;
}

}  // namespace pop::popctl
