// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/detached_job.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "common/base/text.h"
#include "common/contract/exit_code.h"
#include "common/sys/process_setup.h"
#include "common/wire/job_codec.h"
#include "poprun/ui/output_settings.h"
#include "runner/attached_controller.h"
#include "runner/control/control_client.h"
#include "runner/detached_session.h"
#include "runner/directory_feed.h"

namespace pop {
namespace {

std::string runnerLog(const runner::JobEntry& job) {
  return job.path + "/runner.log";
}

// The descriptors that a program inherits from us stay open in the runner for as long as the job runs:
// the reader of such a pipe would wait for its end.
void closeOthers(int kept) {
  if (kept > STDERR_FILENO + 1) ::close_range(STDERR_FILENO + 1, static_cast<unsigned>(kept) - 1, 0);
  ::close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
}

Status leaveTerminal(const runner::JobEntry& job, int kept) {
  ::setsid();
  ::prctl(PR_SET_NAME, "poprun-runner");
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int log = ::open(runnerLog(job).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (null < 0 || log < 0) return errnoStatus("opening " + runnerLog(job), errno);
  ::dup2(null, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  closeOthers(kept);
  return {};
}

// The runner's process from here on.
int runnerMain(const runner::JobEntry& job, const Options& options, const model::JobSpec& spec,
               SessionSettings settings, const HostsHalf* hosts, const runner::LogBound& bound,
               sys::Fd ready) {
  if (const Status left = leaveTerminal(job, ready.get()); !left.ok()) return launcherFailed(left);
  const Result<sys::Fd> lock = runner::lockJob(job.path);
  if (!lock.ok()) return launcherFailed(lock.status());
  settings.output.out.whole_lines = true;
  settings.output.err.whole_lines = true;
  settings.other = [&](const model::JobSpec& each, const ControllerMaker& make) {
    const Result<int> exit_code = runner::runDetached(
        each, {job.path, bound},
        [&](os::EpollLoop& loop, OutputSink& sink, std::function<void(std::string_view)> say) {
          return make(loop, {sink, std::move(say)});
        },
        runner::controlDoor(job.path, [&] {
          static_cast<void>(sys::writeAll(ready.get(), "!"));
          ready.reset();
        }));
    return exit_code.ok() ? exit_code.value() : launcherFailed(exit_code.status());
  };
  return hosts != nullptr ? hosts->run(options, spec, settings) : runJob(spec, settings);
}

bool becomesReady(const sys::Fd& ready) {
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(ready.get(), &byte, 1)) < 0 && errno == EINTR) {
  }
  return got == 1;
}

// It has said why on its stderr.
Status whyNotStarted(const runner::JobEntry& job, pid_t runner) {
  int status = 0;
  while (::waitpid(runner, &status, 0) < 0 && errno == EINTR) {
  }
  Result<std::string> log = sys::readFile(runnerLog(job));
  std::error_code ignored;
  std::filesystem::remove_all(job.path, ignored);
  std::string why = log.ok() ? std::move(*log) : "";
  while (why.ends_with('\n')) why.pop_back();
  if (why.starts_with("poprun: ")) why.erase(0, 8);
  return failedPrecondition(why.empty() ? "the job's runner ended before it had begun" : why);
}

}  // namespace

Result<runner::JobEntry> startDetached(const Options& options, const model::JobSpec& spec,
                                       const SessionSettings& settings, const HostsHalf* hosts,
                                       const DetachSettings& detach) {
  POP_ASSIGN_OR_RETURN(const runner::JobDirectories directories, runner::JobDirectories::ofUser());
  model::JobSpec without_input = spec;
  without_input.stdin_policy = {.who = model::StdinPolicy::Who::kNone};
  POP_ASSIGN_OR_RETURN(runner::JobEntry job, directories.create(detach.name, wire::encode(without_input)));
  POP_ASSIGN_OR_RETURN(sys::Pipe ready, sys::makePipe());
  std::fflush(nullptr);
  const pid_t runner = ::fork();
  if (runner < 0) return errnoStatus("starting the job's runner", errno);
  if (runner == 0) {
    ready.read_end.reset();
    const int exit_code =
        runnerMain(job, options, without_input, settings, hosts, detach.bound, std::move(ready.write_end));
    std::fflush(nullptr);
    ::_exit(exit_code);
  }
  ready.write_end.reset();
  if (!becomesReady(ready.read_end)) return whyNotStarted(job, runner);
  return job;
}

Result<runner::JobEntry> findJob(const JobAddress& address) {
  POP_ASSIGN_OR_RETURN(const runner::JobDirectories directories, runner::JobDirectories::ofUser());
  return directories.find(address.job);
}

int showJob(const runner::JobEntry& job, const Options& options, AttachSettings attach) {
  const Result<std::string> bytes = runner::readSpec(job.path);
  if (!bytes.ok()) return launcherFailed(bytes.status());
  const Result<model::JobSpec> spec = wire::decodeSpec(bytes.value());
  if (!spec.ok()) return launcherFailed(spec.status());
  const std::vector<std::string> mistakes = findWrongInstances(options, spec.value().num_instances);
  if (!mistakes.empty()) return reportMistakes(mistakes);
  if (const Status ready = sys::setUpForJobs(); !ready.ok()) return launcherFailed(ready);
  const SessionSettings settings{.output = outputSettings(options, spec.value()), .begun = job.begun};
  return runSession(spec.value(), settings, [&](os::EpollLoop& loop, const SessionOutput& output) {
    const std::string name = std::to_string(job.id);
    return std::make_unique<runner::AttachedController>(
        loop, output.sink,
        std::make_unique<runner::DirectoryFeed>(
            loop, runner::DirectoryFeed::Job{.directory = job.path, .name = name, .follows = attach.follows}),
        runner::Attachment{.name = name,
                           .ways_back = "--attach " + name + ", --cancel " + name,
                           .controls = attach.controls,
                           .exits_as_job = attach.exits_as_job},
        output.say);
  });
}

Status cancelJob(const runner::JobEntry& job) {
  const Status asked = runner::stopJob(job.path, SIGTERM, [&job] { return runner::hasRunner(job.path); });
  if (asked.code() != Code::kUnavailable) return asked;
  return failedPrecondition("job " + std::to_string(job.id) + " has ended already");
}

}  // namespace pop
