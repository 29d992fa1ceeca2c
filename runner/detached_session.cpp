// SPDX-License-Identifier: Apache-2.0
#include "runner/detached_session.h"

#include <csignal>
#include <optional>
#include <utility>

#include "common/log/log.h"
#include "runner/control/control_server.h"
#include "runner/control/control_wire.h"
#include "runner/recorder.h"
#include "runner/store/job_directory.h"

namespace pop::runner {
namespace {

class DetachedSession {
 public:
  DetachedSession(const DetachedJob& job, RecordWriter writer, sys::Fd listener, const MakeController& make)
      : directory_(job.directory),
        recorder_(std::move(writer), [this] { server_.appended(); }),
        server_(loop_, std::move(listener),
                {.stop = [this](int signal) { controller_->stop(signal); },
                 .signal = [this](int signal) { controller_->signal(signal); }}),
        controller_(make(loop_, recorder_, [this](std::string_view line) { say(line); })) {}

  Result<int> run(const model::JobSpec& spec, const std::function<void()>& listening) {
    std::signal(SIGHUP, SIG_IGN);
    loop_.watchSignals({SIGTERM, SIGINT},
                       [this](const os::Signal& signal) { controller_->stop(signal.number); });
    log::setSink([this](std::string_view line) { say(line); });
    const Status submitted = controller_->submit(
        spec,
        {.event = [this](const LogEntry& entry) { recorder_.note(entry); },
         .placed =
             [this](const std::vector<PlacedInstance>& instances) { recorder_.note(Placed{instances}); },
         .restarting =
             [this](const JobOutcome& failed, int restart) {
               recorder_.note(Restarting{failed, restart});
             },
         .done =
             [this](const JobOutcome& outcome) {
               outcome_ = outcome;
               loop_.post([this] { loop_.stop(); });
             }});
    if (submitted.ok()) {
      listening();
      loop_.run();
    }
    const Status ended = controller_->shutDown();
    log::setSink(nullptr);
    POP_RETURN_IF_ERROR(submitted);
    if (!ended.ok()) say(ended.message());
    finish();
    return outcome_->exit_code;
  }

 private:
  void say(std::string_view line) { recorder_.note(Said{std::string(line)}); }

  // Whoever reads the outcome's record finds it on the disk. A client that does not read it is not waited
  // for.
  void finish() {
    const Status stored = recorder_.sync();
    if (!stored.ok()) say("poprun: the job's log is not complete: " + stored.message());
    const Status written = writeOutcome(directory_, encode(JobEvent(*outcome_)));
    if (!written.ok()) say("poprun: the outcome is not on the disk: " + written.message());
    recorder_.note(*outcome_);
    static_cast<void>(recorder_.sync());
  }

  const std::string directory_;
  os::EpollLoop loop_;
  Recorder recorder_;
  ControlServer server_;
  const std::unique_ptr<Controller> controller_;
  std::optional<JobOutcome> outcome_;
};

}  // namespace

Result<int> runDetached(const model::JobSpec& spec, const DetachedJob& job, const MakeController& make,
                        const std::function<void()>& listening) {
  POP_RETURN_IF_ERROR(reserveForOutcome(job.directory));
  POP_ASSIGN_OR_RETURN(RecordWriter writer, RecordWriter::open(job.directory, job.bound));
  POP_ASSIGN_OR_RETURN(sys::Fd listener, listenForClients(job.directory));
  return DetachedSession(job, std::move(writer), std::move(listener), make).run(spec, listening);
}

}  // namespace pop::runner
