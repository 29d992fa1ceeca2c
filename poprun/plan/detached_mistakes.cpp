// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/detached_mistakes.h"

#include "common/base/text.h"

namespace pop {
namespace {

struct Given {
  const char* option;
  bool is_given;
};

// Each stands for something else to do.
std::vector<const char*> actionsOf(const Options& options) {
  const DetachedOptions& detached = options.detached;
  std::vector<const char*> actions;
  for (const Given& each :
       {Given{"--attach", detached.attach.has_value()}, Given{"--cancel", detached.cancel.has_value()},
        Given{"--jobs", detached.jobs.has_value()}, Given{"--logs", detached.logs.has_value()}}) {
    if (each.is_given) actions.push_back(each.option);
  }
  const bool is_command = !actions.empty();
  if (detached.detach) actions.push_back("--detach");
  if (is_command && options.dry_run != DryRun::kNo) actions.push_back("--dry-run");
  if (is_command && !options.export_config.empty()) actions.push_back("--export-config");
  return actions;
}

}  // namespace

std::vector<std::string> findDetachedMistakes(const Options& options) {
  const DetachedOptions& detached = options.detached;
  std::vector<std::string> mistakes;
  const std::vector<const char*> actions = actionsOf(options);
  if (actions.size() > 1)
    mistakes.push_back(std::string(actions[0]) + " and " + actions[1] + " exclude each other: give only one");
  const auto goesWith = [&](const char* option, bool given, const char* other, bool is_there) {
    if (given && !is_there) mistakes.push_back(std::string(option) + " only goes with " + other);
  };
  const bool on_controller = !options.controller.server.empty();
  goesWith("--name", !detached.name.empty(), "--detach or --controller", detached.detach || on_controller);
  goesWith("--control", detached.control, "--attach", detached.attach.has_value());
  goesWith("--json", detached.json, "--jobs", detached.jobs.has_value());
  goesWith("--follow", detached.follow, "--logs", detached.logs.has_value());
  if (detached.logs && options.timestamp_output)
    mistakes.emplace_back("--timestamp-output: a job's log does not have the times of its lines");
  if (detached.detach && !options.output_filename.empty())
    mistakes.emplace_back(
        "--output-filename: a detached job's output is in its log; give it to --logs or --attach");
  const bool reads = options.stdin_policy.who != model::StdinPolicy::Who::kNone &&
                     options.stdin_policy != model::StdinPolicy();
  if ((hasRunner(detached) || on_controller) && reads)
    mistakes.emplace_back("--stdin: a job that can go on without its terminal reads nothing from it");
  if (hasRunner(detached) && !on_controller && options.partition != model::PartitionRequest())
    mistakes.emplace_back(
        "--vipu-partition and the like: poprun holds a partition while it runs, and this job can go on "
        "without "
        "it; give it to popdistd (--controller), which does both");
  const std::vector<std::string>& program = options.programs.front().command;
  if (isJobCommand(detached) && !program.empty())
    mistakes.push_back(std::string(actions.front()) + " starts no program: leave out " +
                       inQuotes(program.front()));
  return mistakes;
}

}  // namespace pop
