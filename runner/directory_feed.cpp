// SPDX-License-Identifier: Apache-2.0
#include "runner/directory_feed.h"

#include <utility>

#include "common/contract/exit_code.h"
#include "runner/control/control_client.h"
#include "runner/control/runner_socket.h"
#include "runner/store/job_directory.h"

namespace pop::runner {

// First the runner, then the records: those that it appends meanwhile are announced.
Status DirectoryFeed::open(Events events) {
  events_ = std::move(events);
  connect();
  POP_ASSIGN_OR_RETURN(reader_, RecordReader::open(job_.directory));
  return {};
}

void DirectoryFeed::connect() {
  runner_.reset();
  Result<sys::Fd> socket = connectToRunner(job_.directory);
  lives_ = socket.ok() || hasRunner(job_.directory);
  const auto again = [this] {
    connect();
    events_.more();
  };
  if (!socket.ok()) {
    if (lives_) loop_.postAfter(kUntilNextConnect, again);
    return;
  }
  runner_ = speakWithRunner(loop_, std::move(*socket),
                            {.more = [this] { events_.more(); },
                             .done = [this] { events_.answered(); },
                             .gone = [this, again] { loop_.post(again); }});
}

std::optional<FeedEnd> DirectoryFeed::ended() {
  if (lives_) return job_.follows ? std::nullopt : std::optional(FeedEnd{.of_job = false});
  // It is not among the records if the disk was full.
  Result<std::string> outcome = readOutcome(job_.directory);
  return FeedEnd{.outcome = outcome.ok() ? std::move(*outcome) : "",
                 .words = "poprun: the runner of job " + job_.name + " was killed, and the job with it\n",
                 .exit_code = contract::kExitLauncherFailed};
}

void DirectoryFeed::stop(int signal) {
  if (runner_) runner_->send(stopOrder(signal));
}

void DirectoryFeed::signal(int signal) {
  ::popdist::v1::RunnerOrder order;
  order.set_signal(signal);
  if (runner_) runner_->send(order);
}

}  // namespace pop::runner
