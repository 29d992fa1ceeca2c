// SPDX-License-Identifier: Apache-2.0
// The streams of the daemon in the test: what changes, and records of jobs.
#include <atomic>
#include <optional>

#include "tests/integration/popctl/fake_daemon.h"

namespace pop::testing {
grpc::Status FakeDaemon::Watch(grpc::ServerContext* context, const v1::WatchRequest* request,
                               grpc::ServerWriter<v1::Change>* writer) {
  Lock lock(mutex_);
  std::size_t next = static_cast<std::size_t>(request->since_revision());
  if (next == 0) {
    v1::Change change;
    change.set_revision(changes_.size());
    change.mutable_snapshot_begins();
    writer->Write(change);
    for (const auto& [id, job] : jobs_) {
      *change.mutable_job() = job;
      writer->Write(change);
    }
    for (const auto& [name, host] : hosts_) {
      *change.mutable_host() = host;
      writer->Write(change);
    }
    change.mutable_snapshot_ends();
    writer->Write(change);
    next = changes_.size();
  }
  while (waitFor(cancelledOf(*context), lock, [&] { return changes_.size() > next; }))
    writer->Write(changes_[next++]);
  return goingAway();
}

void FakeDaemon::refuseRecords(grpc::Status why) {
  const Lock lock(mutex_);
  records_refused_ = std::move(why);
}

grpc::Status FakeDaemon::sendRecords(const IsGone& is_gone, const v1::LogsRequest& request,
                                     const Write& write) {
  Lock lock(mutex_);
  logs_from_.push_back(request.from_sequence());
  const v1::JobInfo* const job = find(request.job());
  if (job == nullptr) return notFound("no job " + std::to_string(request.job().id()));
  if (!records_refused_.ok()) return records_refused_;
  const std::int64_t id = job->id();
  std::size_t next = request.from_sequence() == 0 ? 0 : static_cast<std::size_t>(request.from_sequence()) - 1;
  std::int64_t sent = 0;
  while (true) {
    const auto has_more = [&] { return records_[id].size() > next; };
    const auto is_over = [&] { return !request.follow() || jobs_[id].state() == v1::JOB_ENDED; };
    if (!waitFor(is_gone, lock, [&] { return has_more() || is_over(); })) return goingAway();
    if (!has_more()) return grpc::Status::OK;
    if (sent++ == streams_break_after_) return goingAway();
    const v1::Record record = records_[id][next++];
    lock.unlock();
    const bool written = write(record);
    lock.lock();
    if (!written) return goingAway();
    if (record.event().has_outcome()) return grpc::Status::OK;
  }
}

grpc::Status FakeDaemon::Logs(grpc::ServerContext* context, const v1::LogsRequest* request,
                              grpc::ServerWriter<v1::Record>* writer) {
  return sendRecords(cancelledOf(*context), *request,
                     [writer](const v1::Record& record) { return writer->Write(record); });
}

/// Sends on a thread of its own.
class FakeDaemon::Attached final : public grpc::ServerBidiReactor<v1::AttachRequest, v1::Record> {
 public:
  explicit Attached(FakeDaemon& daemon) : daemon_(daemon) { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (!ok) return hangUp();
    if (sender_.joinable()) {
      const Lock lock(daemon_.mutex_);
      daemon_.signals_.push_back(request_.signal());
    } else {
      sender_ = std::thread([this, logs = request_.logs()] {
        Finish(daemon_.sendRecords([this] { return gone_.load(); }, logs,
                                   [this](const v1::Record& record) { return write(record); }));
      });
    }
    StartRead(&request_);
  }
  void OnWriteDone(bool ok) override {
    const Lock lock(mutex_);
    written_ = ok;
    done_.notify_all();
  }
  void OnCancel() override { hangUp(); }
  void OnDone() override {
    if (sender_.get_id() == std::this_thread::get_id()) sender_.detach();
    if (sender_.joinable()) sender_.join();
    delete this;
  }

 private:
  void hangUp() {
    gone_ = true;
    if (!sender_.joinable()) Finish(goingAway());
  }
  bool write(const v1::Record& record) {
    Lock lock(mutex_);
    written_.reset();
    StartWrite(&record);
    done_.wait(lock, [this] { return written_.has_value(); });
    return *written_;
  }

  FakeDaemon& daemon_;
  v1::AttachRequest request_;
  std::thread sender_;
  std::atomic<bool> gone_ = false;
  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<bool> written_;
};

grpc::ServerBidiReactor<v1::AttachRequest, v1::Record>* FakeDaemon::Attach(grpc::CallbackServerContext*) {
  return new Attached(*this);
}

}  // namespace pop::testing
