// SPDX-License-Identifier: Apache-2.0
// The controller of a job that another process runs: replays its records from a feed, and passes signals on
// through it. So a session shows an attached job as it shows its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/os/epoll_loop.h"
#include "common/ports/agent_port.h"
#include "common/ports/controller_port.h"
#include "common/wire/job_codec.h"
#include "runner/record_feed.h"

namespace pop::runner {

struct Attachment {
  std::string name;          ///< of the job, for people: its number
  std::string ways_back;     ///< to a job that goes on: "--attach 7, --cancel 7"; empty: it has ended
  bool controls = false;     ///< SIGINT, SIGTERM and SIGTSTP reach the job; else they end the attachment
  bool exits_as_job = true;  ///< else with 0, also when the job has failed or is lost
};

class AttachedController final : public Controller {
 public:
  /// All outlive this. `say` takes lines for people.
  AttachedController(os::EpollLoop& loop, OutputSink& sink, std::unique_ptr<RecordFeed> feed,
                     Attachment attachment, std::function<void(std::string_view lines)> say);

  /// `spec` is the job's own. kNotFound and the like: its records cannot be read.
  Status submit(model::JobSpec spec, JobWatch watch) override;
  void stop(int user_signal) override;
  void signal(int signal) override;
  void suspend(std::function<void()> stopped) override;
  Status shutDown() override { return {}; }

 private:
  void waitForAnswer();
  void answered();
  void readMore();
  void read();
  Status deliver(const Record& record);
  Status deliverEvent(const std::string& bytes);
  void cannotRead(const Status& why);
  void handle(const LogEntry& entry) { watch_.event(entry); }
  void handle(const wire::Placed& placed);
  void handle(const wire::Restarting& restarting) {
    watch_.restarting(restarting.failed, restarting.restart);
  }
  void handle(const wire::Said& said) { say_(said.line + '\n'); }
  void handle(const JobOutcome& outcome);
  void readAll();
  void end(const JobOutcome& outcome);

  os::EpollLoop& loop_;
  OutputSink& sink_;
  const std::unique_ptr<RecordFeed> feed_;
  const Attachment attachment_;
  const std::function<void(std::string_view)> say_;
  JobWatch watch_;
  int num_instances_ = 0;
  std::function<void()> stopped_;
  int stopped_by_ = 0;                 ///< the last signal by which the user has ended the job
  std::optional<TimerId> unanswered_;  ///< until the runner answers
  bool is_silent_ = false;             ///< it has not answered in time
  bool reads_soon_ = false;            ///< readMore() is posted
  bool full_ = false;                  ///< the sink
  bool over_ = false;                  ///< watch_.done was called
};

}  // namespace pop::runner
