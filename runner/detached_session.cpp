// SPDX-License-Identifier: Apache-2.0
#include "runner/detached_session.h"

#include <csignal>
#include <optional>
#include <utility>

#include "common/log/log.h"
#include "runner/control/control_server.h"
#include "runner/control/runner_socket.h"
#include "runner/job_recorder.h"
#include "runner/store/job_directory.h"

namespace pop::runner {
namespace {

class DetachedSession {
 public:
  DetachedSession(std::string directory, RecordWriter writer)
      : directory_(std::move(directory)), recorder_(std::move(writer), [this] { door_->appended(); }) {}

  Result<int> run(const model::JobSpec& spec, const MakeController& make_controller,
                  const MakeDoor& make_door) {
    POP_ASSIGN_OR_RETURN(door_, make_door(loop_, {.stop = [this](int signal) { stop(signal); },
                                                  .signal =
                                                      [this](int signal) {
                                                        if (controller_) controller_->signal(signal);
                                                      },
                                                  .service_stops = [this] { service_stops_ = true; }}));
    controller_ = make_controller(loop_, recorder_, [this](std::string_view line) { say(line); });
    std::signal(SIGHUP, SIG_IGN);
    loop_.watchSignals({SIGTERM, SIGINT}, [this](const os::Signal& signal) {
      controller_ ? controller_->stop(signal.number) : loop_.stop();
    });
    log::setSink([this](std::string_view line) { say(line); });
    const Status submitted = submit(spec);
    if (submitted.ok()) {
      door_->begun(recorder_.lastSequence());
      loop_.run();
    }
    const Status ended = controller_->shutDown();
    log::setSink(nullptr);
    POP_RETURN_IF_ERROR(submitted);
    if (!ended.ok()) say(ended.message());
    finish();
    controller_.reset();
    door_->ended([this] { loop_.stop(); });
    loop_.run();
    return outcome_->exit_code;
  }

 private:
  Status submit(const model::JobSpec& spec) {
    JobWatch watch{
        .event = [this](const LogEntry& entry) { recorder_.note(entry); },
        .placed =
            [this](const std::vector<PlacedInstance>& instances) { recorder_.note(wire::Placed{instances}); },
        .restarting =
            [this](const JobOutcome& failed, int restart) {
              recorder_.note(wire::Restarting{failed, restart});
            },
        .done =
            [this](const JobOutcome& outcome) {
              outcome_ = outcome;
              loop_.post([this] { loop_.stop(); });
            }};
    if (door_->wantsReported())
      watch.reported = [this](const std::vector<JobValue>& values) { door_->reported(values); };
    return controller_->submit(spec, std::move(watch));
  }

  void stop(int signal) {
    if (controller_) controller_->stop(signal);
  }

  void say(std::string_view line) { recorder_.note(wire::Said{std::string(line)}); }

  // The readers of the outcome's record find it on the disk.
  void finish() {
    if (service_stops_ && outcome_->user_signal != 0 && !outcome_->failure)
      outcome_->failure = Failure{.reason = "ended because the agent service of its first host was stopped"};
    const Status stored = recorder_.sync();
    if (!stored.ok()) say("poprun: the job's log is not complete: " + stored.message());
    const Status written = writeOutcome(directory_, wire::encode(wire::JobEvent(*outcome_)));
    if (!written.ok()) say("poprun: the outcome is not on the disk: " + written.message());
    recorder_.note(*outcome_);
    static_cast<void>(recorder_.sync());
  }

  const std::string directory_;
  os::EpollLoop loop_;
  std::unique_ptr<Door> door_;
  Recorder recorder_;
  std::unique_ptr<Controller> controller_;  ///< null when the job is over
  std::optional<JobOutcome> outcome_;
  bool service_stops_ = false;
};

}  // namespace

MakeDoor controlDoor(const std::string& directory, std::function<void()> begun) {
  return [directory, begun = std::move(begun)](os::EpollLoop& loop,
                                               DoorEvents events) -> Result<std::unique_ptr<Door>> {
    POP_ASSIGN_OR_RETURN(sys::Fd listener, listenForClients(directory));
    return std::unique_ptr<Door>(
        std::make_unique<ControlServer>(loop, std::move(listener), std::move(events), begun));
  };
}

Result<int> runDetached(const model::JobSpec& spec, const DetachedJob& job,
                        const MakeController& make_controller, const MakeDoor& make_door) {
  POP_RETURN_IF_ERROR(reserveForOutcome(job.directory));
  POP_ASSIGN_OR_RETURN(RecordWriter writer, RecordWriter::open(job.directory, job.bound));
  return DetachedSession(job.directory, std::move(writer)).run(spec, make_controller, make_door);
}

}  // namespace pop::runner
