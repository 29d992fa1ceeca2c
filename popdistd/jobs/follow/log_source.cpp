// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/follow/log_source.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/contract/record_streams.h"
#include "common/model/job_record.h"
#include "popdistd/jobs/host_bounds.h"

namespace pop::popdistd {
namespace {

constexpr std::int64_t kCreditBytes = 1 << 20;

bool hasRecords(const Job& job) {
  return !job.host().empty() && (job.info().has_started() || job.info().has_ended());
}

// Nothing: its host did not send what it should. A gap says how much is missing.
std::optional<v1::Record> decode(const v1::StoredRecord& stored) {
  v1::Record record;
  record.set_sequence(stored.sequence());
  const std::string& bytes = stored.bytes();
  if (stored.kind() == static_cast<int>(runner::RecordKind::kEvent)) {
    if (!record.mutable_event()->ParseFromString(bytes)) return std::nullopt;
    bound(*record.mutable_event());
    return record;
  }
  if (stored.kind() == static_cast<int>(runner::RecordKind::kOutput))
    return record.mutable_output()->ParseFromString(bytes) ? std::optional(std::move(record)) : std::nullopt;
  std::uint64_t dropped = 0;
  std::from_chars(bytes.data(), bytes.data() + bytes.size(), dropped);
  record.set_dropped_bytes(dropped);
  return record;
}

}  // namespace

LogSource::LogSource(JobTable& jobs, const HostTable& hosts, RunnerLinks& links, Revisions& revisions,
                     std::int64_t job, const v1::LogsRequest& request, Api::Ready ready)
    : jobs_(jobs),
      hosts_(hosts),
      links_(links),
      revisions_(revisions),
      job_(job),
      follows_(request.follow()),
      events_only_(request.events_only()),
      ready_(std::move(ready)),
      subscription_(revisions.subscribe([this] { look(); })),
      from_(std::max<std::uint64_t>(1, request.from_sequence())) {
  connect();
}

LogSource::~LogSource() {
  revisions_.unsubscribe(subscription_);
  if (stream_ != 0) links_.unfollow(stream_);
}

// A job that runs goes on with its host, if that comes back; one that has ended does not change any more.
Status LogSource::outOfReach(const Job& job, const HostTable& hosts, bool follows) {
  if (!job.info().has_started() || !hasRecords(job) || (follows && job.state() != v1::JOB_ENDED)) return {};
  const Host* const host = hosts.find(job.host());
  const std::string output = "the output of job " + std::to_string(job.id()) + " is on host " + job.host();
  if (host == nullptr) return {Code::kNotFound, output + ", which was removed from the cluster"};
  if (!host->is_unheard) return {};
  const std::string state = host->info().state() == v1::HOST_DOWN ? "down" : "silent";
  return failedPrecondition(output + ", which is " + state + " since " + timeText(host->info().last_heard()));
}

// Something has changed.
void LogSource::look() {
  if (ended_) return;
  if (stream_ == 0) return wake();
  const Job* const job = jobs_.find(job_);
  if (job == nullptr) return;
  Status why = outOfReach(*job, hosts_, follows_);
  if (why.ok()) return;
  links_.unfollow(std::exchange(stream_, 0));
  end(std::move(why));
}

// A job that waits has no records yet; one that is started anew, on another host, begins from the beginning.
void LogSource::connect() {
  const Job* const job = jobs_.find(job_);
  if (job == nullptr) return end({Code::kNotFound, "job " + std::to_string(job_) + " was forgotten"});
  if (!hasRecords(*job) || (job->state() == v1::JOB_ENDED && !job->hasRun())) {
    if (!follows_ || job->state() == v1::JOB_ENDED) end({});
    return;
  }
  if (Status why = outOfReach(*job, hosts_, follows_); !why.ok()) return end(std::move(why));
  runner_ = job->runner();
  const bool until_now = !follows_;
  stream_ = links_.follow(job->host(), runner_,
                          {.from_sequence = from_,
                           .events_only = events_only_,
                           .until_now = until_now,
                           .credit_bytes = kCreditBytes},
                          {.records = [this](const v1::Records& records) { take(records); },
                           .ended = [this](const Status& why) { streamEnded(why); }});
}

std::optional<v1::Record> LogSource::next() {
  if (stream_ == 0 && !ended_ && ahead_.empty()) connect();
  if (ahead_.empty()) {
    waits_ = true;
    return std::nullopt;
  }
  v1::Record record = std::move(ahead_.front().record);
  taken_bytes_ += ahead_.front().credit_bytes;
  ahead_.pop_front();
  if (stream_ != 0 && taken_bytes_ >= kCreditBytes / 4)
    links_.credit(stream_, std::exchange(taken_bytes_, 0));
  return record;
}

std::optional<Status> LogSource::ended() const {
  return ahead_.empty() ? ended_ : std::nullopt;
}

void LogSource::take(const v1::Records& records) {
  for (const v1::StoredRecord& each : records.records()) {
    from_ = each.sequence() + 1;
    links_.countRead(each.bytes().size());
    if (std::optional<v1::Record> record = decode(each)) {
      ahead_.push_back({std::move(*record), contract::creditOf(each.bytes().size())});
    } else {
      taken_bytes_ += contract::creditOf(each.bytes().size());
    }
  }
  wake();
}

// A job that was lost, or whose runner was killed, has no last record: what is known of its end is in Get.
void LogSource::streamEnded(const Status& why) {
  stream_ = 0;
  if (why.code() == Code::kNotFound) {
    return end(
        {Code::kNotFound, "the records of job " + std::to_string(job_) + " are gone: " + why.message()});
  }
  end(why);
}

void LogSource::end(Status why) {
  ended_ = std::move(why);
  wake();
}

void LogSource::wake() {
  if (std::exchange(waits_, false)) ready_();
}

}  // namespace pop::popdistd
