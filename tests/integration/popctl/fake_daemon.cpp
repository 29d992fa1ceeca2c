// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/popctl/fake_daemon.h"

#include <utility>

#include "common/base/check.h"

namespace pop::testing {
namespace {

constexpr std::chrono::milliseconds kPoll{10};  // gRPC does not tell of clients that go away

}  // namespace

FakeDaemon::FakeDaemon(std::shared_ptr<grpc::ServerCredentials> credentials)
    : credentials_(std::move(credentials)) {
  start();
}

void FakeDaemon::start() {
  {
    const Lock lock(mutex_);
    stopping_ = false;
  }
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port_), credentials_, &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  POP_CHECK(server_ != nullptr && port_ != 0);
}

void FakeDaemon::stop() {
  if (!server_) return;
  {
    const Lock lock(mutex_);
    stopping_ = true;
    news_.notify_all();
  }
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_.reset();
}

v1::JobInfo& FakeDaemon::addJob(std::int64_t id, const std::string& name) {
  const Lock lock(mutex_);
  v1::JobInfo& job = jobs_[id];
  job.set_id(id);
  job.set_name(name);
  job.set_user("alice");
  job.set_state(v1::JOB_RUNNING);
  job.set_num_instances(2);
  job.add_command("./train");
  job.add_hosts("h0");
  job.mutable_submitted()->set_seconds(1'700'000'000);
  job.mutable_started()->set_seconds(1'700'000'001);
  return job;
}

v1::HostInfo& FakeDaemon::addHost(const std::string& name) {
  const Lock lock(mutex_);
  v1::HostInfo& host = hosts_[name];
  host.set_name(name);
  host.set_num_cores(8);
  host.set_slots(4);
  return host;
}

void FakeDaemon::add(std::int64_t job, v1::Record record) {
  const Lock lock(mutex_);
  std::vector<v1::Record>& all = records_[job];
  record.set_sequence(all.size() + 1);
  all.push_back(std::move(record));
  news_.notify_all();
}

void FakeDaemon::addOutput(std::int64_t job, int instance, const std::string& text) {
  v1::Record record;
  POP_CHECK(record.mutable_output()->ParseFromString(
      wire::encode(wire::Output{.instance = instance, .stream = Stream::kStdout, .text = text})));
  add(job, std::move(record));
}

void FakeDaemon::addEvent(std::int64_t job, const wire::JobEvent& event) {
  v1::Record record;
  POP_CHECK(record.mutable_event()->ParseFromString(wire::encode(event)));
  add(job, std::move(record));
}

void FakeDaemon::endJob(std::int64_t id, int exit_code, bool has_record) {
  {
    const Lock lock(mutex_);
    v1::JobInfo& job = jobs_[id];
    job.set_state(v1::JOB_ENDED);
    job.set_end(exit_code == 0 ? v1::END_SUCCEEDED : has_record ? v1::END_FAILED : v1::END_LOST);
    if (has_record) job.mutable_outcome()->set_exit_code(exit_code);
  }
  if (has_record) addEvent(id, JobOutcome{.exit_code = exit_code});
  changed(id);
}

void FakeDaemon::cancelWaiting(std::int64_t id) {
  {
    const Lock lock(mutex_);
    jobs_[id].set_state(v1::JOB_ENDED);
    jobs_[id].set_end(v1::END_CANCELLED);
  }
  changed(id);
}

void FakeDaemon::changed(std::int64_t id) {
  const Lock lock(mutex_);
  v1::Change change;
  change.set_revision(changes_.size() + 1);
  *change.mutable_job() = jobs_[id];
  changes_.push_back(std::move(change));
  news_.notify_all();
}

std::vector<int> FakeDaemon::signals() const {
  const Lock lock(mutex_);
  return signals_;
}
std::vector<v1::SubmitRequest> FakeDaemon::submitted() const {
  const Lock lock(mutex_);
  return submitted_;
}
std::string FakeDaemon::lastReason() const {
  const Lock lock(mutex_);
  return last_reason_;
}
std::vector<std::uint64_t> FakeDaemon::logsFrom() const {
  const Lock lock(mutex_);
  return logs_from_;
}
void FakeDaemon::loseReplies(int count) {
  const Lock lock(mutex_);
  replies_to_lose_ = count;
}
void FakeDaemon::failBackupAfter(int chunks) {
  const Lock lock(mutex_);
  backup_fails_after_ = chunks;
}
void FakeDaemon::breakStreamsAfter(std::int64_t count) {
  const Lock lock(mutex_);
  streams_break_after_ = count;
}

bool FakeDaemon::waitFor(const IsGone& is_gone, Lock& lock, const std::function<bool()>& condition) {
  while (!condition()) {
    if (stopping_ || is_gone()) return false;
    news_.wait_for(lock, kPoll);
  }
  return true;
}

v1::JobInfo* FakeDaemon::find(const v1::JobRef& ref) {
  for (auto& [id, job] : jobs_) {
    if (id == ref.id() || (!ref.name().empty() && job.name() == ref.name())) return &job;
  }
  return nullptr;
}

grpc::Status FakeDaemon::answer(const v1::JobRef& ref, v1::JobInfo* reply) {
  const Lock lock(mutex_);
  const v1::JobInfo* const job = find(ref);
  if (job == nullptr) return notFound("no job " + std::to_string(ref.id()));
  *reply = *job;
  return grpc::Status::OK;
}

grpc::Status FakeDaemon::Submit(grpc::ServerContext*, const v1::SubmitRequest* request,
                                v1::SubmitReply* reply) {
  if (request->no_wait()) return {grpc::StatusCode::RESOURCE_EXHAUSTED, "no host is free"};
  std::int64_t id = 0;
  {
    const Lock lock(mutex_);
    submitted_.push_back(*request);
    id = by_request_.try_emplace(request->request_id(), 100 + static_cast<std::int64_t>(by_request_.size()))
             .first->second;
    const bool is_new = !jobs_.contains(id);
    v1::JobInfo& job = jobs_[id];
    job.set_id(id);
    job.set_name(request->name());
    if (is_new) job.set_state(request->held() ? v1::JOB_HELD : v1::JOB_QUEUED);
    job.set_num_instances(request->spec().num_instances());
    *reply->mutable_job() = job;
    if (replies_to_lose_ > 0 && replies_to_lose_-- > 0) return goingAway();
  }
  return grpc::Status::OK;
}

grpc::Status FakeDaemon::Get(grpc::ServerContext*, const v1::JobRef* ref, v1::JobInfo* reply) {
  return answer(*ref, reply);
}

grpc::Status FakeDaemon::List(grpc::ServerContext*, const v1::ListJobsRequest* request,
                              v1::ListJobsReply* reply) {
  const Lock lock(mutex_);
  for (auto each = jobs_.rbegin(); each != jobs_.rend(); ++each) {
    const v1::JobInfo& job = each->second;
    const bool is_before = request->page_token().empty() || each->first < std::stoll(request->page_token());
    if (!is_before || (!request->name().empty() && job.name() != request->name())) continue;
    if (reply->jobs_size() == request->page_size()) {
      reply->set_next_page_token(std::to_string(reply->jobs(reply->jobs_size() - 1).id()));
      break;
    }
    *reply->add_jobs() = job;
  }
  return grpc::Status::OK;
}

grpc::Status FakeDaemon::Signal(grpc::ServerContext*, const v1::SignalRequest* request, v1::JobInfo* reply) {
  {
    const Lock lock(mutex_);
    const v1::JobInfo* const job = find(request->job());
    if (job != nullptr && job->state() != v1::JOB_RUNNING)
      return {grpc::StatusCode::FAILED_PRECONDITION, "job " + std::to_string(job->id()) + " does not run"};
    signals_.push_back(request->signal());
  }
  return answer(request->job(), reply);
}

grpc::Status FakeDaemon::Cancel(grpc::ServerContext*, const v1::CancelRequest* request, v1::JobInfo* reply) {
  {
    const Lock lock(mutex_);
    last_reason_ = request->reason();
    v1::JobInfo* const job = find(request->job());
    if (job != nullptr && job->user() == "root")
      return {grpc::StatusCode::PERMISSION_DENIED, "job 9 belongs to user 'root'"};
    if (job != nullptr) job->set_state(v1::JOB_ENDING);
  }
  return answer(request->job(), reply);
}

grpc::Status FakeDaemon::Hold(grpc::ServerContext*, const v1::JobRef* ref, v1::JobInfo* reply) {
  return answer(*ref, reply);
}

grpc::Status FakeDaemon::Release(grpc::ServerContext*, const v1::JobRef* ref, v1::JobInfo* reply) {
  return answer(*ref, reply);
}

grpc::Status FakeDaemon::Wait(grpc::ServerContext* context, const v1::JobRef* ref, v1::JobInfo* reply) {
  {
    Lock lock(mutex_);
    const v1::JobInfo* const job = find(*ref);
    if (job == nullptr) return notFound("no job " + std::to_string(ref->id()));
    if (!waitFor(cancelledOf(*context), lock, [&] { return job->state() == v1::JOB_ENDED; }))
      return goingAway();
  }
  return answer(*ref, reply);
}

grpc::Status FakeDaemon::Forget(grpc::ServerContext*, const v1::JobRef* ref, v1::Nothing*) {
  const Lock lock(mutex_);
  const v1::JobInfo* const job = find(*ref);
  if (job == nullptr) return notFound("no job " + ref->name());
  jobs_.erase(job->id());
  return grpc::Status::OK;
}

grpc::Status FakeDaemon::ListHosts(grpc::ServerContext*, const v1::ListHostsRequest*,
                                   v1::ListHostsReply* reply) {
  const Lock lock(mutex_);
  for (const auto& [name, host] : hosts_) *reply->add_hosts() = host;
  return grpc::Status::OK;
}

grpc::Status FakeDaemon::GetHost(grpc::ServerContext*, const v1::HostRef* ref, v1::HostInfo* reply) {
  const Lock lock(mutex_);
  const auto host = hosts_.find(ref->name());
  if (host == hosts_.end()) return notFound("no host '" + ref->name() + "' has joined");
  *reply = host->second;
  return grpc::Status::OK;
}

grpc::Status FakeDaemon::Drain(grpc::ServerContext* context, const v1::DrainRequest* request,
                               v1::HostInfo* reply) {
  {
    const Lock lock(mutex_);
    last_reason_ = request->reason();
  }
  return GetHost(context, &request->host(), reply);
}

grpc::Status FakeDaemon::Resume(grpc::ServerContext* context, const v1::HostRef* ref, v1::HostInfo* reply) {
  return GetHost(context, ref, reply);
}

grpc::Status FakeDaemon::RemoveHost(grpc::ServerContext*, const v1::HostRef* ref, v1::Nothing*) {
  const Lock lock(mutex_);
  return hosts_.erase(ref->name()) > 0 ? grpc::Status::OK : notFound("no host '" + ref->name() + "'");
}

grpc::Status FakeDaemon::About(grpc::ServerContext* context, const v1::Nothing*, v1::AboutReply* reply) {
  reply->set_version("1.2.3");
  const auto names = context->auth_context()->FindPropertyValues("x509_common_name");
  reply->set_user(names.empty() ? "nobody" : std::string(names.front().data(), names.front().size()));
  return grpc::Status::OK;
}

grpc::Status FakeDaemon::Backup(grpc::ServerContext*, const v1::Nothing*,
                                grpc::ServerWriter<v1::BackupChunk>* writer) {
  const Lock lock(mutex_);
  v1::BackupChunk chunk;
  for (int i = 0; i < 3; ++i) {
    if (i == backup_fails_after_) return {grpc::StatusCode::INTERNAL, "the disk is full"};
    chunk.set_bytes("chunk " + std::to_string(i) + '\n');
    writer->Write(chunk);
  }
  return grpc::Status::OK;
}

grpc::Status FakeDaemon::CheckStore(grpc::ServerContext*, const v1::Nothing*, v1::CheckStoreReply* reply) {
  reply->set_jobs(3);
  return grpc::Status::OK;
}

}  // namespace pop::testing
