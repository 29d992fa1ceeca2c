// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/summary.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "common/base/text.h"
#include "common/contract/exit_code.h"
#include "poprun/ui/line_tagger.h"

namespace pop {
namespace {

std::string who(const Failure& failure, const model::JobSpec& spec) {
  if (failure.instance < 0) return "the job";
  const auto program = static_cast<std::size_t>(model::programOf(spec, failure.instance));
  std::string text = "instance " + std::to_string(failure.instance) + " of " +
                     printable(spec.programs[program].command.front());
  if (failure.pid != 0) text += " (pid " + std::to_string(failure.pid) + ')';
  return text;
}

std::string fateOfOthers(const JobOutcome& outcome, const model::JobSpec& spec) {
  const Failure& failure = *outcome.failure;
  const bool had_started = failure.hosts_lost ? failure.instances_lost > 0 : failure.pid != 0;
  const int others = outcome.instances_stopped;
  if (!had_started || others == 0) return {};
  const std::string were_stopped = others == 1 ? " was stopped" : " were stopped";
  const int failed = failure.hosts_lost ? failure.instances_lost : 1;
  if (others < spec.num_instances - failed) return "; " + counted(others, "other instance") + were_stopped;
  return "; the other " + (others == 1 ? "instance" : counted(others, "instance")) + were_stopped;
}

std::string fateOfAll(const JobOutcome& outcome, const model::JobSpec& spec) {
  const int stopped = outcome.instances_stopped;
  if (stopped == 0) return {};
  if (stopped == spec.num_instances) return "; all instances were stopped";
  return "; " + counted(stopped, "instance") + (stopped == 1 ? " was stopped" : " were stopped");
}

std::string seconds(std::chrono::milliseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f s", static_cast<double>(time.count()) / 1000);
  return text.data();
}

// Removes the colours that a program may have added, and other control characters that move the cursor.
std::string plain(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const std::size_t escape = line.find("\x1b[");
    text += line.substr(0, escape);
    if (escape == std::string_view::npos) break;
    const std::size_t end = line.find_first_not_of("0123456789;", escape + 2);
    if (end != std::string_view::npos && line[end] == 'm') {
      line.remove_prefix(end + 1);
    } else {
      text += '\x1b';
      line.remove_prefix(escape + 1);
    }
  }
  std::string expanded;
  for (const char c : text) expanded += c == '\t' ? std::string(4, ' ') : std::string(1, c);
  return printable(expanded);
}

std::string details(const Failure& failure, const SummaryFacts& facts) {
  if (failure.pid == 0) return {};
  std::string text = "  on " + printable(failure.host) + ", " + seconds(facts.after) +
                     " after the start, at " + timestampOf(facts.wall_clock) + '\n';
  if (facts.last_errors.empty()) return text;
  text += "  its last lines on stderr:\n";
  for (const std::string& line : facts.last_errors) text += "    " + plain(line) + '\n';
  return text;
}

// "instance 1 of ./train (pid 712) exited with code 3; the other 3 instances were stopped"
std::string failureText(const JobOutcome& outcome, const model::JobSpec& spec) {
  const Failure& failure = *outcome.failure;
  if (!failure.hosts_lost)
    return who(failure, spec) + ' ' + printable(failure.reason) + fateOfOthers(outcome, spec);
  std::vector<std::string> lines = split(failure.reason, '\n');
  for (std::string& line : lines) line = printable(line);
  return join(lines, "\n") + fateOfOthers(outcome, spec);
}

std::string timeoutText(const JobOutcome& outcome, const model::JobSpec& spec) {
  std::string text = "poprun: the job did not end within " + secondsText(spec.timeout) + " s (--timeout)" +
                     fateOfAll(outcome, spec);
  if (outcome.hosts_unanswered > 0)
    text += "; " + counted(outcome.hosts_unanswered, "host") + " had not answered";
  text += '\n';
  for (const StackTrace& trace : outcome.stack_traces) {
    text += "poprun: stack of instance " + std::to_string(trace.instance) + " (pid " +
            std::to_string(trace.pid) + (spec.hosts.size() > 1 ? " on " + printable(trace.host) : "") +
            "):\n";
    for (const std::string& line : split(trace.text, '\n')) {
      if (!line.empty()) text += "    " + plain(line) + '\n';
    }
  }
  return text;
}

}  // namespace

std::string restartNotice(const JobOutcome& failed, const model::JobSpec& spec, int restart) {
  std::string text = "poprun: " + failureText(failed, spec) + "; the job starts again";
  if (spec.restart_delay.count() > 0) text += " in " + secondsText(spec.restart_delay) + " s";
  return text + " (restart " + std::to_string(restart) + " of " + std::to_string(spec.max_restarts) + ")\n";
}

std::string summaryOf(const JobOutcome& outcome, const model::JobSpec& spec, const SummaryFacts& facts) {
  // Ctrl-C during the grace that follows a failure does not hide the failure.
  if (outcome.failure) {
    std::string text = "poprun: " + failureText(outcome, spec);
    if (outcome.restarts > 0) text += ", after " + counted(outcome.restarts, "restart");
    if (outcome.failure->exit_code == contract::kExitNotFound && !facts.program_hint.empty())
      text += " (" + printable(facts.program_hint) + ')';
    if (!outcome.why_not_again.empty())
      text += "; it is not started again: " + printable(outcome.why_not_again);
    return text + '\n' + details(*outcome.failure, facts);
  }
  if (outcome.timed_out && outcome.user_signal == 0) return timeoutText(outcome, spec);
  if (outcome.user_signal == 0 || outcome.user_signal == SIGINT || outcome.user_signal == SIGPIPE) return {};
  return "poprun: ended by SIG" + std::string(sigabbrev_np(outcome.user_signal)) + fateOfAll(outcome, spec) +
         '\n';
}

}  // namespace pop
