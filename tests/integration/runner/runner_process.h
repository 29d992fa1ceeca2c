// SPDX-License-Identifier: Apache-2.0
// A popdist-runner of the test's: started with a socket, as the agent service starts it, and all that it
// says.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/model/job_record.h"
#include "common/os/epoll_loop.h"
#include "common/os/helper_program.h"
#include "common/sys/fd.h"
#include "common/sys/unix_socket.h"
#include "common/wire/job_codec.h"
#include "common/wire/message_stream.h"
#include "proto/popdist/v1/host.pb.h"
#include "proto/popdist/v1/job.pb.h"
#include "tests/testing/run_until.h"

namespace pop::testing {

namespace v1 = ::popdist::v1;

/// The records that a follower has got.
struct Followed {
  std::vector<v1::StoredRecord> records;
  std::int64_t cost = 0;           ///< as credit counts it
  std::optional<std::string> end;  ///< its problem

  std::uint64_t last() const { return records.empty() ? 0 : records.back().sequence(); }

  std::string output(Stream stream = Stream::kStdout, int num_instances = 1) const {
    std::string text;
    for (const v1::StoredRecord& record : records) {
      if (record.kind() != static_cast<int>(runner::RecordKind::kOutput)) continue;
      const Result<wire::Output> output = wire::decodeOutput(record.bytes(), num_instances);
      EXPECT_TRUE(output.ok()) << output.status().message();
      if (output.ok() && output.value().stream == stream) text += output.value().text;
    }
    return text;
  }

  std::vector<wire::JobEvent> events(int num_instances = 1) const {
    std::vector<wire::JobEvent> events;
    for (const v1::StoredRecord& record : records) {
      if (record.kind() != static_cast<int>(runner::RecordKind::kEvent)) continue;
      Result<wire::JobEvent> event = wire::decodeEvent(record.bytes(), num_instances);
      EXPECT_TRUE(event.ok()) << event.status().message();
      if (event.ok()) events.push_back(std::move(*event));
    }
    return events;
  }

  std::optional<JobOutcome> outcome(int num_instances = 1) const {
    const std::vector<wire::JobEvent> all = events(num_instances);
    if (all.empty() || !std::holds_alternative<JobOutcome>(all.back())) return std::nullopt;
    return std::get<JobOutcome>(all.back());
  }
};

class RunnerProcess {
 public:
  /// `prefix`: words before the program's, to run it elsewhere.
  RunnerProcess(const std::string& directory, const v1::HostOrder& first,
                std::vector<std::string> prefix = {}) {
    auto ends = sys::socketPair();
    auto errors = sys::makePipe();
    std::vector<std::string> command = std::move(prefix);
    for (const std::string& word :
         {std::string(POP_BIN_DIR "/popdist-runner"), std::string("--directory"), directory})
      command.push_back(word);
    const int socket = ends->second.get();
    Result<os::HelperProgram> started =
        os::HelperProgram::start(command, {socket, socket, errors->write_end.get()});
    EXPECT_TRUE(started.ok()) << started.status().message();
    program_ = std::move(*started);
    errors_ = std::move(errors->read_end);
    EXPECT_TRUE(sys::setNonBlocking(ends->first.get()).ok());
    stream_ = std::make_unique<wire::MessageStream>(
        loop_, std::move(ends->first), sys::Fd(),
        wire::MessageStream::Events{.message = [this](const std::string& message) { take(message); },
                                    .ended = [this](const Status&) { has_ended_ = true; }});
    stream_->send(first);
  }

  pid_t pid() const { return program_.pid(); }
  void kill(int signal) const { ::kill(program_.pid(), signal); }

  void send(const v1::RunnerOrder& order) { stream_->send(order); }
  /// `window`: credit that is given again as it is used; 0: none ever.
  void follow(std::int64_t stream, std::uint64_t from, std::int64_t window = 1 << 20,
              bool events_only = false, bool until_now = false) {
    v1::RunnerOrder order;
    order.mutable_follow()->set_stream(stream);
    order.mutable_follow()->set_from_sequence(from);
    order.mutable_follow()->set_credit_bytes(window);
    order.mutable_follow()->set_events_only(events_only);
    order.mutable_follow()->set_until_now(until_now);
    windows_[stream] = window;
    send(order);
  }
  void unfollow(std::int64_t stream) {
    v1::RunnerOrder order;
    order.set_unfollow(stream);
    send(order);
  }
  void stop(int signal) {
    v1::RunnerOrder order;
    order.mutable_stop()->set_number(++num_stops_);
    order.mutable_stop()->set_signal(signal);
    send(order);
  }
  void signal(int signal) {
    v1::RunnerOrder order;
    order.set_signal(signal);
    send(order);
  }
  void retire() {
    v1::RunnerOrder order;
    order.mutable_retire();
    send(order);
  }
  /// The service is gone.
  void hangUp() { stream_.reset(); }

  void runUntil(const std::function<bool()>& done) { testing::runUntil(loop_, done); }
  /// Waits until it has said that it is up, or has ended.
  bool becomesUp() {
    runUntil([this] { return up_ || has_ended_; });
    return up_.has_value();
  }
  const Followed& waitForEnd(std::int64_t stream) {
    runUntil([&] { return followed_[stream].end || has_ended_; });
    return followed_[stream];
  }

  /// Its exit code, or minus the signal that has killed it.
  int exitCode() {
    if (stream_) runUntil([this] { return has_ended_; });
    const std::optional<int> status = program_.wait(std::chrono::seconds(30));
    if (!status) return -1000;
    return WIFEXITED(*status) ? WEXITSTATUS(*status) : -WTERMSIG(*status);
  }
  std::string errors() const { return sys::readAll(errors_, "stderr").value(); }

  const std::optional<v1::RunnerUp>& up() const { return up_; }
  bool hasEnded() const { return has_ended_; }
  Followed& followed(std::int64_t stream) { return followed_[stream]; }

 private:
  void take(const std::string& message) {
    v1::RunnerReport report;
    ASSERT_TRUE(report.ParseFromString(message));
    if (report.has_up()) {
      EXPECT_FALSE(up_.has_value());
      up_ = report.up();
      return;
    }
    EXPECT_TRUE(up_.has_value()) << "the first report";
    if (report.has_end()) followed_[report.end().stream()].end = report.end().problem();
    if (report.has_records()) takeRecords(report.records());
  }

  void takeRecords(const v1::Records& records) {
    Followed& followed = followed_[records.stream()];
    EXPECT_FALSE(followed.end.has_value());
    std::int64_t cost = 0;
    for (const v1::StoredRecord& record : records.records()) {
      cost += static_cast<std::int64_t>(record.bytes().size()) + 64;
      followed.records.push_back(record);
    }
    EXPECT_TRUE(cost <= 1 << 20 || records.records_size() == 1);
    followed.cost += cost;
    EXPECT_GT(windows_[records.stream()], 0) << "no credit";
    v1::RunnerOrder order;
    order.mutable_credit()->set_stream(records.stream());
    order.mutable_credit()->set_bytes(cost);
    send(order);
  }

  os::EpollLoop loop_;
  os::HelperProgram program_;
  sys::Fd errors_;
  std::unique_ptr<wire::MessageStream> stream_;
  std::map<std::int64_t, std::int64_t> windows_;
  std::map<std::int64_t, Followed> followed_;
  std::optional<v1::RunnerUp> up_;
  std::int32_t num_stops_ = 0;
  bool has_ended_ = false;
};

}  // namespace pop::testing
