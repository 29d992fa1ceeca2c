// SPDX-License-Identifier: Apache-2.0
#include "bench/daemon_speed/client.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "bench/daemon_speed/cluster.h"
#include "common/base/text.h"
#include "tests/testing/file_text.h"

namespace pop::bench {
namespace {

namespace v1 = ::popdist::v1;

constexpr int kWriters = 50;
constexpr std::chrono::seconds kConnectLimit{30};

// A call that fails at once for want of a connection does nothing for one.
void awaitConnection(grpc::ClientContext& context) {
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + kConnectLimit);
}

}  // namespace

v1::SubmitRequest jobOf(const std::vector<std::string>& words, int instances) {
  v1::SubmitRequest request;
  v1::Program& program = *request.mutable_spec()->add_programs();
  for (const std::string& word : words) program.add_words(word);
  program.set_num_instances(instances);
  program.set_working_directory("/");
  return request;
}

v1::SubmitRequest heldJob() {
  v1::SubmitRequest request = jobOf({"/bin/true"});
  request.set_held(true);
  return request;
}

Status statusOf(const grpc::Status& status) {
  return status.ok() ? Status() : internalError("popdistd: " + status.error_message());
}

// Channels to the same server share a connection unless they are told not to.
std::shared_ptr<grpc::Channel> channelTo(const PopCluster& cluster, const std::string& user) {
  const std::string own = cluster.tls() + "/user-" + user;
  const grpc::SslCredentialsOptions files{.pem_root_certs = testing::fileText(cluster.tls() + "/ca.pem"),
                                          .pem_private_key = testing::fileText(own + "-key.pem"),
                                          .pem_cert_chain = testing::fileText(own + ".pem")};
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
  return grpc::CreateCustomChannel(cluster.server(), grpc::SslCredentials(files), arguments);
}

DaemonClient::DaemonClient(const PopCluster& cluster)
    : stub_(v1::Controller::NewStub(channelTo(cluster, "bench"))) {}

Result<DaemonClient> DaemonClient::connectedTo(const PopCluster& cluster) {
  DaemonClient client(cluster);
  if (!client.serves()) return internalError("popdistd does not answer");
  return client;
}

Result<std::vector<DaemonClient>> DaemonClient::connectedTo(const PopCluster& cluster, int clients) {
  std::vector<DaemonClient> all;
  for (int client = 0; client < clients; ++client) {
    POP_ASSIGN_OR_RETURN(DaemonClient connected, connectedTo(cluster));
    all.push_back(std::move(connected));
  }
  return all;
}

bool DaemonClient::serves() const {
  grpc::ClientContext context;
  awaitConnection(context);
  v1::AboutReply about;
  return stub_->About(&context, {}, &about).ok();
}

bool DaemonClient::hasHost(const std::string& name) const {
  grpc::ClientContext context;
  awaitConnection(context);
  v1::HostRef host;
  host.set_name(name);
  v1::HostInfo info;
  return stub_->GetHost(&context, host, &info).ok() && info.state() == v1::HOST_UP;
}

Result<v1::JobInfo> DaemonClient::submit(const v1::SubmitRequest& request) const {
  grpc::ClientContext context;
  v1::SubmitReply reply;
  POP_RETURN_IF_ERROR(statusOf(stub_->Submit(&context, request, &reply)));
  return reply.job();
}

Result<v1::JobInfo> DaemonClient::cancel(std::int64_t job) const {
  grpc::ClientContext context;
  v1::CancelRequest request;
  request.mutable_job()->set_id(job);
  v1::JobInfo info;
  POP_RETURN_IF_ERROR(statusOf(stub_->Cancel(&context, request, &info)));
  return info;
}

Status DaemonClient::waitForSuccess(std::int64_t job) const {
  grpc::ClientContext context;
  v1::JobRef request;
  request.set_id(job);
  v1::JobInfo info;
  POP_RETURN_IF_ERROR(statusOf(stub_->Wait(&context, request, &info)));
  if (info.end() == v1::END_SUCCEEDED) return {};
  return internalError("job " + std::to_string(job) + " has not succeeded: " + info.reason());
}

Status makeRecords(const PopCluster& cluster, int jobs) {
  std::atomic<int> left = jobs;
  return inThreads(kWriters, [&](int) -> Status {
    POP_ASSIGN_OR_RETURN(const DaemonClient client, DaemonClient::connectedTo(cluster));
    while (left.fetch_sub(1) > 0) {
      POP_ASSIGN_OR_RETURN(const v1::JobInfo job, client.submit(heldJob()));
      const Result<v1::JobInfo> cancelled = client.cancel(job.id());
      if (!cancelled.ok()) return cancelled.status();
    }
    return {};
  });
}

Status inThreads(int threads, const std::function<Status(int thread)>& work) {
  std::mutex mutex;
  Status first;
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread)
    all.emplace_back([&, thread] {
      Status status = work(thread);
      const std::lock_guard lock(mutex);
      if (first.ok()) first = std::move(status);
    });
  for (std::thread& each : all) each.join();
  return first;
}

}  // namespace pop::bench
