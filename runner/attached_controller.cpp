// SPDX-License-Identifier: Apache-2.0
#include "runner/attached_controller.h"

#include <csignal>
#include <cstdlib>
#include <utility>

#include "common/base/text.h"
#include "common/contract/exit_code.h"
#include "runner/control/control_client.h"

namespace pop::runner {
namespace {

// Signals and the terminal get their turn between so many records.
constexpr int kRecordsAtOnce = 256;

}  // namespace

AttachedController::AttachedController(os::EpollLoop& loop, OutputSink& sink,
                                       std::unique_ptr<RecordFeed> feed, Attachment attachment,
                                       std::function<void(std::string_view lines)> say)
    : loop_(loop),
      sink_(sink),
      feed_(std::move(feed)),
      attachment_(std::move(attachment)),
      say_(std::move(say)) {}

Status AttachedController::submit(model::JobSpec spec, JobWatch watch) {
  num_instances_ = spec.num_instances;
  watch_ = std::move(watch);
  POP_RETURN_IF_ERROR(feed_->open({.more = [this] { readMore(); }, .answered = [this] { answered(); }}));
  sink_.setOnReady([this] {
    full_ = false;
    readMore();
  });
  readMore();
  return {};
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
    const Result<std::optional<Record>> record = feed_->next();
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
      POP_ASSIGN_OR_RETURN(const wire::Output output, wire::decodeOutput(record.bytes, num_instances_));
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
  POP_ASSIGN_OR_RETURN(const wire::JobEvent event, wire::decodeEvent(bytes, num_instances_));
  std::visit([this](const auto& each) { handle(each); }, event);
  return {};
}

void AttachedController::handle(const wire::Placed& placed) {
  if (watch_.placed) watch_.placed(placed.instances);
}

void AttachedController::handle(const JobOutcome& outcome) {
  JobOutcome shown = outcome;
  // popdistd stops jobs by SIGTERM, whatever was pressed here.
  if (stopped_by_ == SIGINT && shown.user_signal == SIGTERM) {
    shown.user_signal = SIGINT;
    if (shown.exit_code == contract::kExitSignalBase + SIGTERM) shown.exit_code = contract::kExitInterrupted;
  }
  if (!attachment_.exits_as_job) shown.exit_code = 0;
  end(shown);
}

// All that there is has been read.
void AttachedController::readAll() {
  const std::optional<FeedEnd> feed_end = feed_->ended();
  if (!feed_end) return;
  if (!feed_end->outcome.empty()) {
    if (const Status delivered = deliverEvent(feed_end->outcome); !delivered.ok())
      return cannotRead(delivered);
  }
  if (over_) return;
  if (!feed_end->words.empty()) say_(feed_end->words);
  const bool stands = attachment_.exits_as_job || !feed_end->of_job;
  end({.exit_code = stands ? feed_end->exit_code : 0});
}

void AttachedController::end(const JobOutcome& outcome) {
  if (!std::exchange(over_, true)) watch_.done(outcome);
}

void AttachedController::stop(int user_signal) {
  const bool ours = user_signal == SIGPIPE || user_signal == SIGHUP || !attachment_.controls;
  if (!ours && feed_->reachesRunner() && !is_silent_) {
    stopped_by_ = user_signal;
    feed_->stop(user_signal);
    return waitForAnswer();
  }
  if (over_) return;
  const std::string state =
      attachment_.ways_back.empty() ? "has ended" : "goes on (" + attachment_.ways_back + ')';
  say_("poprun: detached from job " + attachment_.name + ", which " + state + '\n');
  end({.exit_code = 0});
}

void AttachedController::signal(int signal) {
  if (attachment_.controls && feed_->reachesRunner()) feed_->signal(signal);
}

// Without control only this process is stopped.
void AttachedController::suspend(std::function<void()> stopped) {
  if (!attachment_.controls || !feed_->reachesRunner() || is_silent_) return stopped();
  stopped_ = std::move(stopped);
  feed_->signal(SIGSTOP);
  waitForAnswer();
}

void AttachedController::waitForAnswer() {
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
