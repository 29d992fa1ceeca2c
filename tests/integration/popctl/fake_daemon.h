// SPDX-License-Identifier: Apache-2.0
// A gRPC server in the test that answers as popdistd does, from jobs and records that the test gives it; it
// can go away and come back on its port.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/wire/job_codec.h"
#include "proto/popdist/v1/controller.grpc.pb.h"

namespace pop::testing {

namespace v1 = ::popdist::v1;

inline grpc::Status notFound(const std::string& what) {
  return {grpc::StatusCode::NOT_FOUND, what};
}
inline grpc::Status goingAway() {
  return {grpc::StatusCode::UNAVAILABLE, "going away"};
}
inline std::function<bool()> cancelledOf(const grpc::ServerContext& context) {
  return [&context] { return context.IsCancelled(); };
}

class FakeDaemon final : public v1::Controller::WithCallbackMethod_Attach<v1::Controller::Service> {
 public:
  explicit FakeDaemon(
      std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials());
  ~FakeDaemon() override { stop(); }

  void start();  ///< on the same port as before
  void stop();   ///< breaks all connections
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }

  // The daemon's jobs and hosts.
  v1::JobInfo& addJob(std::int64_t id, const std::string& name = "");
  v1::HostInfo& addHost(const std::string& name);
  void addOutput(std::int64_t job, int instance, const std::string& text);
  void addEvent(std::int64_t job, const wire::JobEvent& event);
  /// With a last record, unless there is to be none.
  void endJob(std::int64_t job, int exit_code, bool has_record = true);
  /// A job that has never run.
  void cancelWaiting(std::int64_t job);
  /// For those who watch.
  void changed(std::int64_t job);

  // Requests so far.
  std::vector<int> signals() const;
  std::vector<v1::SubmitRequest> submitted() const;  ///< each request, also repeated ones
  std::string lastReason() const;
  std::vector<std::uint64_t> logsFrom() const;  ///< from_sequence of each Logs and Attach

  // Faults.
  void loseReplies(int count);                 ///< Submit's, after it has done its work
  void failBackupAfter(int chunks);            ///< -1: it does not fail
  void refuseRecords(grpc::Status why);        ///< any job's
  void breakStreamsAfter(std::int64_t count);  ///< records, of each stream

  grpc::Status Submit(grpc::ServerContext*, const v1::SubmitRequest*, v1::SubmitReply*) override;
  grpc::Status Get(grpc::ServerContext*, const v1::JobRef*, v1::JobInfo*) override;
  grpc::Status List(grpc::ServerContext*, const v1::ListJobsRequest*, v1::ListJobsReply*) override;
  grpc::Status Watch(grpc::ServerContext*, const v1::WatchRequest*, grpc::ServerWriter<v1::Change>*) override;
  grpc::Status Logs(grpc::ServerContext*, const v1::LogsRequest*, grpc::ServerWriter<v1::Record>*) override;
  /// A handler that waits for the client could not end the stream: this one is told of its messages.
  grpc::ServerBidiReactor<v1::AttachRequest, v1::Record>* Attach(
      grpc::CallbackServerContext* context) override;
  grpc::Status Signal(grpc::ServerContext*, const v1::SignalRequest*, v1::JobInfo*) override;
  grpc::Status Cancel(grpc::ServerContext*, const v1::CancelRequest*, v1::JobInfo*) override;
  grpc::Status Hold(grpc::ServerContext*, const v1::JobRef*, v1::JobInfo*) override;
  grpc::Status Release(grpc::ServerContext*, const v1::JobRef*, v1::JobInfo*) override;
  grpc::Status Wait(grpc::ServerContext*, const v1::JobRef*, v1::JobInfo*) override;
  grpc::Status Forget(grpc::ServerContext*, const v1::JobRef*, v1::Nothing*) override;
  grpc::Status ListHosts(grpc::ServerContext*, const v1::ListHostsRequest*, v1::ListHostsReply*) override;
  grpc::Status GetHost(grpc::ServerContext*, const v1::HostRef*, v1::HostInfo*) override;
  grpc::Status Drain(grpc::ServerContext*, const v1::DrainRequest*, v1::HostInfo*) override;
  grpc::Status Resume(grpc::ServerContext*, const v1::HostRef*, v1::HostInfo*) override;
  grpc::Status RemoveHost(grpc::ServerContext*, const v1::HostRef*, v1::Nothing*) override;
  grpc::Status About(grpc::ServerContext*, const v1::Nothing*, v1::AboutReply*) override;
  grpc::Status Backup(grpc::ServerContext*, const v1::Nothing*,
                      grpc::ServerWriter<v1::BackupChunk>*) override;
  grpc::Status CheckStore(grpc::ServerContext*, const v1::Nothing*, v1::CheckStoreReply*) override;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Write = std::function<bool(const v1::Record&)>;
  using IsGone = std::function<bool()>;
  class Attached;

  v1::JobInfo* find(const v1::JobRef& ref);
  grpc::Status answer(const v1::JobRef& ref, v1::JobInfo* reply);
  grpc::Status sendRecords(const IsGone& is_gone, const v1::LogsRequest& request, const Write& write);
  void add(std::int64_t job, v1::Record record);
  /// False: the client or the server is gone.
  bool waitFor(const IsGone& is_gone, Lock& lock, const std::function<bool()>& condition);

  const std::shared_ptr<grpc::ServerCredentials> credentials_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;

  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::map<std::int64_t, v1::JobInfo> jobs_;
  std::map<std::int64_t, std::vector<v1::Record>> records_;
  std::map<std::string, v1::HostInfo> hosts_;
  std::vector<v1::Change> changes_;
  std::map<std::string, std::int64_t> by_request_;
  std::vector<v1::SubmitRequest> submitted_;
  std::vector<int> signals_;
  std::vector<std::uint64_t> logs_from_;
  std::string last_reason_;
  int replies_to_lose_ = 0;
  int backup_fails_after_ = -1;
  std::int64_t streams_break_after_ = -1;
  grpc::Status records_refused_;
  bool stopping_ = false;
};

}  // namespace pop::testing
