// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/join/fake_popdistd.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "proto/popdist/v1/host.grpc.pb.h"

namespace pop::testing {
namespace {

constexpr std::chrono::seconds kTimeout{20};

using Stream = grpc::ServerReaderWriter<v1::HostOrder, v1::HostReport>;

}  // namespace

class FakePopdistd::Impl final : public v1::Hosts::Service {
 public:
  explicit Impl(FakePopdistdSetup setup) : setup_(std::move(setup)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:" + std::to_string(setup_.port), credentials(), &port_);
    builder.SetMaxReceiveMessageSize(16 << 20);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  ~Impl() override {
    stopReading(false);
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
  }

  grpc::Status Join(grpc::ServerContext* context, Stream* stream) override {
    v1::HostReport first;
    if (!stream->Read(&first) || !first.has_joins())
      return {grpc::StatusCode::INVALID_ARGUMENT, "no HostJoins"};
    if (!setup_.refusal.empty()) return {grpc::StatusCode::FAILED_PRECONDITION, setup_.refusal};
    const std::string name = first.joins().name();
    if (!isNamed(*context, name))
      return {grpc::StatusCode::PERMISSION_DENIED, "not a name of its certificate"};
    v1::HostOrder welcome;
    welcome.mutable_welcome()->set_cluster_id(setup_.cluster);
    welcome.mutable_welcome()->set_epoch(setup_.epoch);
    welcome.mutable_welcome()->set_heartbeat_ms(setup_.heartbeat_ms);
    stream->Write(welcome);
    enter(name, stream, first);
    for (v1::HostReport report; mayRead() && stream->Read(&report);) take(name, report);
    leave(name, stream);
    return grpc::Status::OK;
  }

  void enter(const std::string& name, Stream* stream, const v1::HostReport& joins) {
    const std::lock_guard lock(mutex_);
    streams_[name] = stream;
    reports_[name].push_back(joins);
    changed_.notify_all();
  }

  void leave(const std::string& name, Stream* stream) {
    const std::lock_guard lock(mutex_);
    if (streams_[name] == stream) streams_.erase(name);
    changed_.notify_all();
  }

  void take(const std::string& name, const v1::HostReport& report) {
    const std::lock_guard lock(mutex_);
    if (report.has_heartbeat())
      ++heartbeats_;
    else if (report.has_said() && report.said().report().has_records())
      for (const auto& record : report.said().report().records().records()) bytes_ += record.bytes().size();
    else
      reports_[name].push_back(report);
    changed_.notify_all();
  }

  bool mayRead() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !stopped_; });
    return true;
  }

  void stopReading(bool stop) {
    const std::lock_guard lock(mutex_);
    stopped_ = stop;
    changed_.notify_all();
  }

  std::optional<v1::HostReport> next(const std::string& host, const Wanted& wanted) {
    std::unique_lock lock(mutex_);
    std::optional<v1::HostReport> found;
    changed_.wait_for(lock, kTimeout, [&] {
      for (auto& reports = reports_[host]; !found && !reports.empty(); reports.pop_front()) {
        if (wanted(reports.front())) found = reports.front();
      }
      return found.has_value();
    });
    return found;
  }

  void send(const std::string& host, const v1::HostOrder& order) {
    const std::lock_guard lock(mutex_);
    if (const auto found = streams_.find(host); found != streams_.end()) found->second->Write(order);
  }

  template <typename T>
  T read(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  const FakePopdistdSetup setup_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Stream*> streams_;
  std::map<std::string, std::deque<v1::HostReport>> reports_;
  bool stopped_ = false;
  int heartbeats_ = 0;
  std::size_t bytes_ = 0;

 private:
  std::shared_ptr<grpc::ServerCredentials> credentials() const {
    if (setup_.authority.empty()) return grpc::InsecureServerCredentials();
    grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = setup_.authority;
    options.pem_key_cert_pairs.push_back({setup_.key, setup_.certificate});
    return grpc::SslServerCredentials(options);
  }

  bool isNamed(const grpc::ServerContext& context, const std::string& name) const {
    if (setup_.authority.empty()) return true;
    for (const grpc::string_ref& each :
         context.auth_context()->FindPropertyValues("x509_subject_alternative_name"))
      if (each == name) return true;
    return false;
  }
};

FakePopdistd::FakePopdistd(FakePopdistdSetup setup) : impl_(std::make_unique<Impl>(std::move(setup))) {}
FakePopdistd::~FakePopdistd() = default;

int FakePopdistd::port() const {
  return impl_->port_;
}

std::optional<v1::HostReport> FakePopdistd::next(const std::string& host, const Wanted& wanted) {
  return impl_->next(host, wanted);
}

void FakePopdistd::send(const std::string& host, const v1::HostOrder& order) {
  impl_->send(host, order);
}

void FakePopdistd::stopReading(bool stop) {
  impl_->stopReading(stop);
}

int FakePopdistd::heartbeats() const {
  return impl_->read(impl_->heartbeats_);
}

std::size_t FakePopdistd::bytesRead() const {
  return impl_->read(impl_->bytes_);
}

int FakePopdistd::connections() const {
  const std::lock_guard lock(impl_->mutex_);
  return static_cast<int>(impl_->streams_.size());
}

}  // namespace pop::testing
