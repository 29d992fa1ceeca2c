// SPDX-License-Identifier: Apache-2.0
// A small daemon without jobs, for tests of what carries its interface. All of it on the loop's thread.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "popdistd/api/api.h"
#include "popdistd/api/host_gate.h"
#include "tests/testing/fake_answers.h"

namespace pop::testing {

namespace v1 = ::popdist::v1;
/// A stream that any number of readers read from the beginning.
template <typename T>
class Feed {
 public:
  class Reader final : public popdistd::Source<T> {
   public:
    Reader(Feed& feed, std::size_t from, std::function<void()> ready)
        : feed_(feed), position_(from), ready_(std::move(ready)) {
      feed_.readers_.insert(this);
    }
    ~Reader() override { feed_.readers_.erase(this); }

    std::optional<T> next() override {
      if (position_ >= feed_.messages_.size()) return std::nullopt;
      return feed_.messages_[position_++];
    }
    std::optional<Status> ended() const override { return feed_.end_; }
    std::size_t position() const { return position_; }

   private:
    friend class Feed;
    Feed& feed_;
    std::size_t position_;
    const std::function<void()> ready_;
  };

  std::unique_ptr<popdistd::Source<T>> open(std::size_t from, std::function<void()> ready) {
    return std::make_unique<Reader>(*this, from, std::move(ready));
  }
  void push(T message) {
    messages_.push_back(std::move(message));
    tell();
  }
  void end(Status how) {
    end_ = std::move(how);
    tell();
  }
  const std::set<Reader*>& readers() const { return readers_; }

 private:
  void tell() {
    for (Reader* const reader : std::set(readers_)) reader->ready_();
  }

  std::vector<T> messages_;
  std::optional<Status> end_;
  std::set<Reader*> readers_;
};

/// Calls without a member of their own are answered with the request's thing, from proto/calls.
class PlainApi : public popdistd::NumberingApi, public FakeAnswers {
 public:
#define CALL(Name, member, Request, Answer, ...)                                             \
  void member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) override { \
    answer(caller, #member, request, reply);                                                 \
  }
#include "proto/calls/controller.def"
};

class FakeApi final : public PlainApi {
 public:
  std::vector<int> signals;
  Feed<popdistd::ShownChange> changes;
  Feed<v1::Record> records;
  std::vector<v1::WatchRequest> watches;
  std::vector<v1::LogsRequest> log_requests;
  v1::SubmitRequest submitted;
  v1::ListJobsRequest listed;
  std::string backup_path;
  std::string owner;  ///< the owner of all jobs; empty: the caller
  bool answers = true;
  int pages_of_hosts = 1;
  bool job_runs = true;
  std::vector<Reply<v1::JobInfo>> unanswered;

  void submit(const Caller& caller, v1::SubmitRequest request, Reply<v1::SubmitReply> reply) override {
    record(caller, "submit", request);
    submitted = request;
    v1::SubmitReply answer;
    *answer.mutable_job() = job(caller, 7);
    answer.mutable_job()->set_name(request.name());
    reply(answer);
  }
  void submitTelling(const Caller& caller, v1::SubmitRequest request, Reply<v1::SubmitReply> reply,
                     const std::function<void(std::int64_t job)>& taken) override {
    taken(7);
    submit(caller, std::move(request), std::move(reply));
  }
  void get(const Caller& caller, v1::JobRef ref, Reply<v1::JobInfo> reply) override {
    answerJob(caller, "get", ref, ref, std::move(reply));
  }
  void list(const Caller& caller, v1::ListJobsRequest request, Reply<v1::ListJobsReply> reply) override {
    calls.push_back(caller.user + " list " + request.user());
    listed = request;
    v1::ListJobsReply answer;
    *answer.add_jobs() = job(caller, 7);
    answer.set_next_page_token("more");
    reply(answer);
  }
  void countJobs(const Caller& caller, v1::Nothing request, Reply<v1::CountJobsReply> reply) override {
    record(caller, "countJobs", request);
    v1::CountJobsReply answer;
    answer.add_counts()->set_jobs(3);
    reply(answer);
  }
  void listQuotas(const Caller& caller, v1::ListQuotasRequest request,
                  Reply<v1::ListQuotasReply> reply) override {
    record(caller, "listQuotas", request);
    v1::ListQuotasReply answer;
    answer.add_quotas()->mutable_of()->set_name("alice");
    reply(answer);
  }
  void signal(const Caller& caller, v1::SignalRequest request, Reply<v1::JobInfo> reply) override {
    signals.push_back(request.signal());
    answerJob(caller, "signal", request, request.job(), std::move(reply));
  }
  void cancel(const Caller& caller, v1::CancelRequest request, Reply<v1::JobInfo> reply) override {
    answerJob(caller, "cancel", request, request.job(), std::move(reply));
  }
  void hold(const Caller& caller, v1::JobRef ref, Reply<v1::JobInfo> reply) override {
    answerJob(caller, "hold", ref, ref, std::move(reply));
  }
  void release(const Caller& caller, v1::JobRef ref, Reply<v1::JobInfo> reply) override {
    answerJob(caller, "release", ref, ref, std::move(reply));
  }
  void listHosts(const Caller& caller, v1::ListHostsRequest request,
                 Reply<v1::ListHostsReply> reply) override {
    record(caller, "listHosts", request);
    v1::ListHostsReply answer;
    const int number = request.page_token().empty() ? 0 : std::stoi(request.page_token());
    answer.add_hosts()->set_name("h" + std::to_string(number));
    answer.set_revision(static_cast<std::uint64_t>(number) + 7);
    if (number + 1 < pages_of_hosts) answer.set_next_page_token(std::to_string(number + 1));
    reply(answer);
  }
  void about(const Caller& caller, v1::Nothing request, Reply<v1::AboutReply> reply) override {
    record(caller, "about", request);
    v1::AboutReply answer;
    answer.set_user(caller.user);
    reply(answer);
  }
  void checkStore(const Caller& caller, v1::Nothing request, Reply<v1::CheckStoreReply> reply) override {
    record(caller, "checkStore", request);
    v1::CheckStoreReply answer;
    answer.set_jobs(3);
    reply(answer);
  }
  void backup(const Caller& caller, v1::Nothing request, Reply<std::string> reply) override {
    record(caller, "backup", request);
    reply(backup_path);
  }
  Result<std::unique_ptr<popdistd::Source<popdistd::ShownChange>>> watch(const Caller&,
                                                                         const v1::WatchRequest& request,
                                                                         Ready ready) override {
    watches.push_back(request);
    if (refusal) return *refusal;
    return changes.open(0, std::move(ready));
  }
  Result<std::unique_ptr<popdistd::Source<v1::Record>>> logs(const Caller&, const v1::LogsRequest& request,
                                                             Ready ready) override {
    log_requests.push_back(request);
    if (refusal) return *refusal;
    return records.open(request.from_sequence(), std::move(ready));
  }

 private:
  v1::JobInfo job(const Caller& caller, std::int64_t id) const {
    v1::JobInfo info;
    info.set_id(id);
    info.set_user(owner.empty() ? caller.user : owner);
    info.set_state(job_runs ? v1::JOB_RUNNING : v1::JOB_ENDED);
    info.mutable_submitted()->set_seconds(1700000000);
    return info;
  }

  void answerJob(const Caller& caller, const std::string& member, const auto& request, const v1::JobRef& ref,
                 Reply<v1::JobInfo> reply) {
    record(caller, member, request);
    if (!answers) return unanswered.push_back(std::move(reply));
    if (refusal) return reply(*refusal);
    reply(job(caller, ref.id() == 0 ? 7 : ref.id()));
  }
};

class FakeGate final : public popdistd::HostGate {
 public:
  std::vector<std::string> events;  ///< "h0 joins from 127.0.0.1", "says 5", "left"
  std::shared_ptr<popdistd::HostChannel> channel;
  std::optional<Status> refusal;

  Status joined(const v1::HostJoins& joins, const std::string& address,
                std::shared_ptr<popdistd::HostChannel> opened) override {
    events.push_back(joins.name() + " joins from " + address);
    if (refusal) return *refusal;
    channel = std::move(opened);
    return {};
  }
  void said(popdistd::HostChannel&, v1::HostReport report) override {
    events.push_back("says " + std::to_string(report.heartbeat().clock_ms()));
  }
  void left(popdistd::HostChannel&, const Status&) override {
    events.emplace_back("left");
    channel.reset();
  }
};

}  // namespace pop::testing
