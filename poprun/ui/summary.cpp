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

std::string seconds(std::chrono::milliseconds duration) {
  std::string text = std::to_string(duration.count() / 1000);
  if (duration.count() % 1000 != 0) text += '.' + std::to_string(1000 + duration.count() % 1000).substr(1);
  while (text.find('.') != std::string::npos && text.ends_with('0')) text.pop_back();
  return text + " s";
}

std::string othersStopped(int others) {
  if (others == 0) return {};
  return "; the other " + (others == 1 ? "instance was" : counted(others, "instance") + " were") + " stopped";
}

// "instance 1 of ./train (pid 712) exited with code 3; the other 3 instances were stopped"
std::string failureText(const Failure& failure, const model::JobSpec& spec) {
  std::string text = who(failure, spec) + ' ' + failure.reason;
  if (failure.instance >= 0 && failure.pid != 0) text += othersStopped(spec.num_instances - 1);
  return text;
}

std::string timeoutText(const JobOutcome& outcome, const model::JobSpec& spec) {
  std::string text = "poprun: the job did not end within " + seconds(spec.timeout) +
                     " (--timeout); all instances were stopped\n";
  for (const StackTrace& trace : outcome.stack_traces) {
    text += "poprun: instance " + std::to_string(trace.instance) + " (pid " + std::to_string(trace.pid) +
            ") was here:\n";
    for (const std::string& line : split(trace.text, '\n')) {
      if (!line.empty()) text += "    " + line + '\n';
    }
  }
  return text;
}

}  // namespace

std::string restartNotice(const JobOutcome& failed, const model::JobSpec& spec, int restart) {
  std::string text = "poprun: " + failureText(*failed.failure, spec) + "; the job starts again";
  if (spec.restart_delay.count() > 0) text += " in " + seconds(spec.restart_delay);
  return text + " (restart " + std::to_string(restart) + " of " + std::to_string(spec.max_restarts) + ")\n";
}

std::string summaryOf(const JobOutcome& outcome, const model::JobSpec& spec) {
  // Ctrl-C during the grace that follows a failure does not hide the failure.
  if (outcome.failure) {
    std::string text = "poprun: " + failureText(*outcome.failure, spec);
    if (outcome.restarts > 0) text += ", after " + counted(outcome.restarts, "restart");
    return text + '\n';
  }
  if (outcome.timed_out && outcome.user_signal == 0) return timeoutText(outcome, spec);
  if (outcome.user_signal == 0 || outcome.user_signal == SIGINT || outcome.user_signal == SIGPIPE) return {};
  return "poprun: ended by SIG" + std::string(sigabbrev_np(outcome.user_signal)) +
         "; all instances were stopped\n";
}

}  // namespace pop
