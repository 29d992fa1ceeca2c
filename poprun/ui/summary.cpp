// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/summary.h"

#include <csignal>
#include <cstring>

#include "common/base/text.h"

namespace pop {
namespace {

std::string who(const Failure& failure, const model::JobSpec& spec) {
  if (failure.instance < 0) return "the job";
  const auto program = static_cast<std::size_t>(model::programOf(spec, failure.instance));
  std::string text =
      "instance " + std::to_string(failure.instance) + " of " + spec.programs[program].command.front();
  if (failure.pid != 0) text += " (pid " + std::to_string(failure.pid) + ")";
  return text;
}

}  // namespace

std::string summaryOf(const JobOutcome& outcome, const model::JobSpec& spec) {
  // Ctrl-C during the grace that follows a failure does not hide the failure.
  if (!outcome.failure && (outcome.user_signal == SIGINT || outcome.user_signal == SIGPIPE)) return {};
  if (!outcome.failure && outcome.user_signal != 0) {
    return "poprun: ended by SIG" + std::string(sigabbrev_np(outcome.user_signal)) +
           "; all instances were stopped\n";
  }
  if (!outcome.failure) return {};
  const Failure& failure = *outcome.failure;
  std::string text = "poprun: " + who(failure, spec) + ' ' + failure.reason;
  if (failure.instance >= 0 && spec.num_instances > 1 && failure.pid != 0) {
    text +=
        "; the other " +
        (spec.num_instances == 2 ? "instance was" : counted(spec.num_instances - 1, "instance") + " were") +
        " stopped";
  }
  return text + '\n';
}

}  // namespace pop
