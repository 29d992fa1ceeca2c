// SPDX-License-Identifier: Apache-2.0
#include "runner/attached_controller.h"

#include <csignal>
#include <cstdlib>
#include <utility>

#include "common/base/text.h"
#include "common/contract/exit_code.h"
#include "runner/store/job_directory.h"

namespace pop::runner {
namespace {

// Signals and the terminal get their turn between so many records.
constexpr int kRecordsAtOnce = 256;

}  // namespace

AttachedController::AttachedController(os::EpollLoop& loop, OutputSink& sink, Attachment attachment,
                                       std::function<void(std::string_view lines)> say)
    : loop_(loop), sink_(sink), attachment_(std::move(attachment)), say_(std::move(say)) {}

// First the runner, then the records: those that it appends meanwhile are announced.
Status AttachedController::submit(model::JobSpec spec, JobWatch watch) {
  num_instances_ = spec.num_instances;
  watch_ = std::move(watch);
  connect();
  POP_ASSIGN_OR_RETURN(reader_, RecordReader::open(attachment_.directory));
  sink_.setOnReady([this] {
    full_ = false;
    readMore();
  });
  readMore();
  return {};
}

void AttachedController::connect() {
  runner_.reset();
  Result<sys::Fd> socket = connectToRunner(attachment_.directory);
  lives_ = socket.ok() || hasRunner(attachment_.directory);
  const auto again = [this] {
    connect();
    readMore();
  };
  if (!socket.ok()) {
    if (lives_) loop_.postAfter(kUntilNextConnect, again);
    return;
  }
  runner_.emplace(loop_, std::move(*socket),
                  ControlClient::Events{.more = [this] { readMore(); },
                                        .done = [this] { answered(); },
                                        .gone = [this, again] { loop_.post(again); }});
}

void AttachedController::readMore() {
  if (std::exchange(reads_soon_, true)) return;
  loop_.post([this] {
    reads_soon_ = false;
    read();
  });
}

void AttachedController::read() {
  for (int count = 0; !full_ && !over_; ++count) {
    if (count == kRecordsAtOnce) return readMore();
    const Result<std::optional<Record>> record = reader_->next();
    if (!record.ok()) return cannotRead(record.status());
    if (!record.value()) return readAll();
    if (const Status delivered = deliver(*record.value()); !delivered.ok()) return cannotRead(delivered);
  }
}

void AttachedController::cannotRead(const Status& why) {
  say_("poprun: the records of job " + attachment_.name + " cannot be read: " + why.message() + '\n');
  end({.exit_code = contract::kExitLauncherFailed});
}

Status AttachedController::deliver(const Record& record) {
  switch (record.kind) {
    case RecordKind::kOutput: {
      POP_ASSIGN_OR_RETURN(const Output output, decodeOutput(record.bytes, num_instances_));
      full_ = !sink_.write(output.instance, output.stream, output.text);
      return {};
    }
    case RecordKind::kEvent:
      return deliverEvent(record.bytes);
    case RecordKind::kGap:
      say_("poprun: " + sizeText(std::strtoull(record.bytes.c_str(), nullptr, 10)) +
           " of output was dropped here (--log-limit)\n");
      return {};
  }
  return {};
}

Status AttachedController::deliverEvent(const std::string& bytes) {
  POP_ASSIGN_OR_RETURN(const JobEvent event, decodeEvent(bytes, num_instances_));
  std::visit([this](const auto& each) { handle(each); }, event);
  return {};
}

void AttachedController::handle(const Placed& placed) {
  if (watch_.placed) watch_.placed(placed.instances);
}

void AttachedController::handle(const JobOutcome& outcome) {
  JobOutcome shown = outcome;
  if (!attachment_.exits_as_job) shown.exit_code = 0;
  end(shown);
}

// All that there is has been read.
void AttachedController::readAll() {
  if (lives_ && attachment_.follows) return;
  if (!lives_) {
    // It is not among the records if the disk was full.
    const Result<std::string> outcome = readOutcome(attachment_.directory);
    if (outcome.ok()) {
      if (const Status delivered = deliverEvent(outcome.value()); !delivered.ok())
        return cannotRead(delivered);
    }
    if (over_) return;
    say_("poprun: the runner of job " + attachment_.name + " was killed, and the job with it\n");
  }
  end({.exit_code = lives_ || !attachment_.exits_as_job ? 0 : contract::kExitLauncherFailed});
}

void AttachedController::end(const JobOutcome& outcome) {
  if (!std::exchange(over_, true)) watch_.done(outcome);
}

void AttachedController::stop(int user_signal) {
  const bool ours = user_signal == SIGPIPE || user_signal == SIGHUP || !attachment_.controls;
  if (!ours && runner_ && !is_silent_) return ask(ControlMessage::kStop, user_signal);
  if (over_) return;
  say_("poprun: detached from job " + attachment_.name + ", which goes on (--attach " + attachment_.name +
       ", --cancel " + attachment_.name + ")\n");
  end({.exit_code = 0});
}

void AttachedController::signal(int signal) {
  if (attachment_.controls && runner_) runner_->send(ControlMessage::kSignal, signal);
}

// Without control only this process is stopped.
void AttachedController::suspend(std::function<void()> stopped) {
  if (!attachment_.controls || !runner_ || is_silent_) return stopped();
  stopped_ = std::move(stopped);
  ask(ControlMessage::kSignal, SIGSTOP);
}

void AttachedController::ask(ControlMessage message, int signal) {
  runner_->send(message, signal);
  if (unanswered_) return;
  unanswered_ = loop_.postAfter(kAnswerTimeout, [this] {
    say_("poprun: " + std::string(kNoAnswer) + "; Ctrl-C ends only this poprun now\n");
    is_silent_ = true;
    answered();
  });
}

void AttachedController::answered() {
  if (unanswered_) loop_.cancel(*std::exchange(unanswered_, std::nullopt));
  if (stopped_) std::exchange(stopped_, nullptr)();
}

}  // namespace pop::runner
