// SPDX-License-Identifier: Apache-2.0
#include "popctl/rpc/record_download.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <csignal>
#include <string>
#include <utility>

#include "popctl/rpc/connection.h"
#include "popctl/rpc/exit_codes.h"
#include "popctl/rpc/reconnects.h"

namespace pop::popctl {
namespace {

constexpr std::size_t kMostAheadBytes = 4 << 20;
constexpr std::size_t kRecordOverheadBytes = 64;

using SteadyClock = std::chrono::steady_clock;

std::optional<runner::Record> recordOf(const v1::Record& from) {
  switch (from.body_case()) {
    case v1::Record::kEvent:
      return runner::Record{from.sequence(), runner::RecordKind::kEvent, from.event().SerializeAsString()};
    case v1::Record::kOutput:
      return runner::Record{from.sequence(), runner::RecordKind::kOutput, from.output().SerializeAsString()};
    case v1::Record::kDroppedBytes:
      return runner::Record{from.sequence(), runner::RecordKind::kGap, std::to_string(from.dropped_bytes())};
    case v1::Record::BODY_NOT_SET:
      break;
  }
  return std::nullopt;  // of a newer server
}

std::size_t costOf(const runner::Record& record) {
  return record.bytes.size() + kRecordOverheadBytes;
}

// The known end of a job that has no last record.
runner::FeedEnd endOf(const v1::JobInfo& job, int stopped_by) {
  if (job.has_outcome()) {
    v1::JobEvent event;
    *event.mutable_outcome() = job.outcome();
    return {.outcome = event.SerializeAsString()};
  }
  const bool by_us = job.end() == v1::END_CANCELLED && stopped_by != 0;
  return {.words = "poprun: " + endText(job) + '\n',
          .exit_code = by_us ? contract::kExitSignalBase + stopped_by : exitCodeOf(job)};
}

}  // namespace

/// Logs, or Attach, as the one or the other.
class RecordReader::Channel {
 public:
  Channel(Connection& connection, std::optional<std::chrono::system_clock::time_point> until)
      : connection_(connection) {
    if (until) context_.set_deadline(*until);
  }

  /// Waits for the connection, or for cancel().
  void open(const v1::LogsRequest& logs, bool controls) {
    if (!controls) {
      logs_ = connection_.stub->Logs(&context_, logs);
      return;
    }
    attach_ = connection_.stub->Attach(&context_);
    v1::AttachRequest first;
    *first.mutable_logs() = logs;
    attach_->Write(first);
  }

  bool read(v1::Record& record) { return attach_ ? attach_->Read(&record) : logs_->Read(&record); }

  void send(int signal) {
    v1::AttachRequest request;
    request.set_signal(signal);
    if (attach_) attach_->Write(request);
  }

  /// From any thread, also before open().
  void cancel() { context_.TryCancel(); }

  Status finish() {
    if (attach_) attach_->WritesDone();
    return streamEnd(attach_ ? attach_->Finish() : logs_->Finish(), connection_.server);
  }

 private:
  Connection& connection_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::Record>> logs_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AttachRequest, v1::Record>> attach_;
};

RecordReader::RecordReader(ControllerClient& client, RecordsOf of, Events events)
    : client_(client),
      of_(of),
      until_(of.timeout ? std::optional(std::chrono::system_clock::now() + *of.timeout) : std::nullopt),
      events_(std::move(events)),
      next_sequence_(of.from_sequence),
      thread_([this] { run(); }) {}

RecordReader::~RecordReader() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    if (channel_) channel_->cancel();
  }
  changed_.notify_all();
  thread_.join();
}

std::optional<runner::Record> RecordReader::take() {
  const std::scoped_lock lock(mutex_);
  if (ahead_.empty()) {
    told_ = end_.has_value();
    return std::nullopt;
  }
  runner::Record record = std::move(ahead_.front());
  ahead_.pop_front();
  ahead_bytes_ -= costOf(record);
  changed_.notify_all();
  return record;
}

std::optional<runner::FeedEnd> RecordReader::end() const {
  const std::scoped_lock lock(mutex_);
  return ahead_.empty() ? end_ : std::nullopt;
}

bool RecordReader::connected() const {
  const std::scoped_lock lock(mutex_);
  return open_;
}

void RecordReader::send(int signal) {
  const std::scoped_lock lock(mutex_);
  if (!open_) return;
  if (signal == SIGINT || signal == SIGTERM) stopped_by_ = signal;
  channel_->send(signal);
}

int RecordReader::stoppedBy() const {
  const std::scoped_lock lock(mutex_);
  return stopped_by_;
}

void RecordReader::run() {
  Reconnects reconnects(client_.server().reconnect);
  while (true) {
    reconnects.began(SteadyClock::now());
    Status how = readOnce(reconnects);
    if (std::optional<runner::FeedEnd> end = endAfter(how)) return finish(std::move(*end));
    if (!reconnects.goesOn(SteadyClock::now(), client_.isConnecting())) {
      const Server& server = client_.server();
      return finish({.words = server.program + ": no connection to " + server.address + " for " +
                              std::to_string(server.reconnect.count()) + " s: " + how.message() +
                              "; the job goes on\n",
                     .exit_code = kExitUnavailable,
                     .of_job = false});
    }
    if (reconnects.isNews()) events_.lost();
    if (!waitForNextAttempt()) return;
  }
}

Status RecordReader::readOnce(Reconnects& reconnects) {
  v1::LogsRequest request;
  request.mutable_job()->set_id(of_.job);
  request.set_from_sequence(next_sequence_);
  request.set_follow(of_.follows);
  auto made = std::make_unique<Channel>(client_.connection(), until_);
  Channel& channel = *made;
  {
    const std::scoped_lock lock(mutex_);
    channel_ = std::move(made);
    if (stopping_) channel.cancel();
  }
  channel.open(request, of_.controls);
  {
    const std::scoped_lock lock(mutex_);
    open_ = true;
  }
  v1::Record record;
  while (channel.read(record)) {
    reconnects.received();
    if (!accept(record)) channel.cancel();
  }
  std::unique_ptr<Channel> over;
  {
    const std::scoped_lock lock(mutex_);
    open_ = false;
    over = std::move(channel_);
  }
  return over->finish();
}

bool RecordReader::accept(const v1::Record& from) {
  if (from.sequence() < next_sequence_) return true;
  next_sequence_ = from.sequence() + 1;
  has_outcome_ = from.event().has_outcome();
  std::optional<runner::Record> record = recordOf(from);
  if (!record) return true;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || ahead_bytes_ < kMostAheadBytes; });
    if (stopping_) return false;
    ahead_bytes_ += costOf(*record);
    ahead_.push_back(std::move(*record));
  }
  tell();
  return true;
}

// Nothing: the stream is to be read again, after `how`.
std::optional<runner::FeedEnd> RecordReader::endAfter(Status& how) {
  {
    const std::scoped_lock lock(mutex_);
    if (stopping_) return runner::FeedEnd{.of_job = false};
  }
  if (has_outcome_) return runner::FeedEnd{};
  if (until_ && std::chrono::system_clock::now() >= *until_) {
    return runner::FeedEnd{.words = client_.server().program + ": the output of job " +
                                    std::to_string(of_.job) + " has not ended within " +
                                    secondsText(*of_.timeout) + " s (--timeout)\n",
                           .exit_code = kExitUnavailable,
                           .of_job = false};
  }
  if (how.ok() && !of_.follows) return runner::FeedEnd{.of_job = false};
  if (how.ok()) {
    v1::JobRef job;
    job.set_id(of_.job);
    const Result<v1::JobInfo> info = client_.get(job);
    if (info.ok() && info.value().state() == v1::JOB_ENDED) return endOf(info.value(), stoppedBy());
    how = info.ok() ? unavailable("the server has ended the stream before the job's end") : info.status();
  }
  if (isLost(how) || how.code() == Code::kDeadlineExceeded) return std::nullopt;
  return runner::FeedEnd{.words = client_.server().program + ": the records of job " +
                                  std::to_string(of_.job) + " cannot be read: " + printable(how.message()) +
                                  '\n',
                         .exit_code = exitCodeOfRecords(how),
                         .of_job = false};
}

bool RecordReader::waitForNextAttempt() {
  client_.waitForNextAttempt();
  const std::scoped_lock lock(mutex_);
  return !stopping_;
}

void RecordReader::finish(runner::FeedEnd end) {
  {
    const std::scoped_lock lock(mutex_);
    end_ = std::move(end);
    told_ = false;
  }
  tell();
}

void RecordReader::tell() {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(told_, true)) return;
  }
  events_.more();
}

}  // namespace pop::popctl
