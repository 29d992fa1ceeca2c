// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/jobs_command.h"

#include <optional>
#include <utility>
#include <variant>

#include "common/wire/job_codec.h"
#include "poprun/command/command_line.h"
#include "poprun/command/jobs_table.h"

namespace pop {
namespace {

std::optional<model::JobSpec> specOf(const runner::JobEntry& entry) {
  const Result<std::string> bytes = runner::readSpec(entry.path);
  if (!bytes.ok()) return std::nullopt;
  Result<model::JobSpec> spec = wire::decodeSpec(bytes.value());
  return spec.ok() ? std::optional(std::move(*spec)) : std::nullopt;
}

std::optional<int> exitCodeOf(const runner::JobEntry& entry, const model::JobSpec& spec) {
  const Result<std::string> bytes = runner::readOutcome(entry.path);
  if (!bytes.ok()) return std::nullopt;
  const Result<wire::JobEvent> event = wire::decodeEvent(bytes.value(), spec.num_instances);
  const auto* outcome = event.ok() ? std::get_if<JobOutcome>(&event.value()) : nullptr;
  return outcome != nullptr ? std::optional(outcome->exit_code) : std::nullopt;
}

// Another version's records may be unreadable: the job is listed all the same.
ListedJob listed(runner::JobEntry entry) {
  ListedJob job{std::move(entry), std::nullopt, {}};
  const std::optional<model::JobSpec> spec = specOf(job.entry);
  if (!spec) return job;
  job.exit_code = exitCodeOf(job.entry, *spec);
  for (const model::Program& program : spec->programs) job.programs.push_back(program.command);
  return job;
}

Result<std::vector<ListedJob>> listedJobs() {
  POP_ASSIGN_OR_RETURN(const runner::JobDirectories directories, runner::JobDirectories::ofUser());
  POP_ASSIGN_OR_RETURN(std::vector<runner::JobEntry> entries, directories.list());
  std::vector<ListedJob> jobs;
  for (runner::JobEntry& entry : entries) jobs.push_back(listed(std::move(entry)));
  return jobs;
}

}  // namespace

int jobsCommand(const Options& options) {
  const Result<std::vector<ListedJob>> jobs = listedJobs();
  if (!jobs.ok()) return launcherFailed(jobs.status());
  return print(options.detached.json ? jobsJson(jobs.value())
                                     : jobsTable(jobs.value(), std::chrono::system_clock::now()));
}

}  // namespace pop
