// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/popctl/pods_server.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "common/base/check.h"
#include "tests/unit/popdistd/pods/pods_fixture.h"

namespace pop::testing {

using popdistd::PodsApi;
using popdistd::VipuApi;

namespace {

grpc::Status toGrpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), status.message()};
}

}  // namespace

// The daemon, for one thread at a time.
class PodsServer::Core : public popdistd::testing::PodsTest {
 public:
  template <typename Interface, typename Wanted, typename T>
  grpc::Status serve(Interface& (Core::*interface)(),
                     void (Interface::*method)(const popdistd::Caller&, Wanted, popdistd::Reply<T>),
                     const Wanted& request, T& reply) {
    const std::scoped_lock lock(mutex_);
    const auto answer = call((this->*interface)(), method, "root", request);
    advance(std::chrono::seconds(1));
    if (answer.code() != Code::kOk) return toGrpc({answer.code(), answer.words()});
    reply = answer.value();
    return grpc::Status::OK;
  }
  PodsApi& podsApi() { return pods(); }
  VipuApi& vipuApi() { return vipu(); }

  void setConfigureDelay(std::chrono::milliseconds delay) {
    const std::scoped_lock lock(mutex_);
    setDelay(delay);
  }
  std::optional<v1::PartitionInfo> info(const std::string& id) {
    const std::scoped_lock lock(mutex_);
    return partition(id);
  }

  grpc::Status hold(const grpc::ServerContext& context, const v1::HoldRequest& request,
                    const std::function<bool(const v1::HoldReply&)>& write) {
    std::unique_lock lock(mutex_);
    std::condition_variable nothing;
    auto held = pods().holdPartition(callerOf("root"), request, [] {});
    settle();
    if (!held.ok()) return toGrpc(held.status());
    const auto source = std::move(held.value());
    while (!context.IsCancelled()) {
      while (const auto next = source->next()) {
        if (!write(*next)) return grpc::Status::CANCELLED;
      }
      if (const auto end = source->ended()) return toGrpc(*end);
      nothing.wait_for(lock, std::chrono::milliseconds(10));  // gRPC does not tell of clients that go away
      settle();
    }
    return grpc::Status::CANCELLED;
  }

 private:
  void TestBody() override {}

  std::mutex mutex_;
};

#define POP_CALL_(interface, Interface, Method, method, Request, Reply)                      \
  grpc::Status Method(grpc::ServerContext*, const Request* request, Reply* reply) override { \
    return core_.serve(&Core::interface, &Interface::method, *request, *reply);              \
  }
#define POP_PODS_(Method, method, Request, Reply) \
  POP_CALL_(podsApi, PodsApi, Method, method, v1::Request, v1::Reply)
#define POP_USER_(Method, method, Request, Reply) \
  POP_CALL_(vipuApi, VipuApi, Method, method, virmgrpc::Request, virmgrpc::Reply)

class PodsServer::PodsCalls final : public v1::Pods::Service {
 public:
  explicit PodsCalls(Core& core) : core_(core) {}
#define CALL(Name, member, Request, Answer, ...) POP_PODS_(Name, member, Request, Answer)
#include "proto/calls/pods.def"
  grpc::Status HoldPartition(grpc::ServerContext* context, const v1::HoldRequest* request,
                             grpc::ServerWriter<v1::HoldReply>* writer) override {
    return core_.hold(*context, *request,
                      [writer](const v1::HoldReply& reply) { return writer->Write(reply); });
  }

 private:
  Core& core_;
};

class PodsServer::UserCalls final : public virmgrpc::UserService::Service {
 public:
  explicit UserCalls(Core& core) : core_(core) {}
#define CALL(Name, member, Request, Answer, ...) POP_USER_(Name, member, Request, Answer)
#include "proto/calls/vipu.def"

 private:
  Core& core_;
};

class PodsServer::VersionCalls final : public virmgrpc::VersionService::Service {
 public:
  explicit VersionCalls(Core& core) : core_(core) {}
  POP_USER_(GetVersion, getVersion, VersionRequest, VersionReply)

 private:
  Core& core_;
};

#undef POP_CALL_
#undef POP_PODS_
#undef POP_USER_

PodsServer::PodsServer(bool has_pods)
    : core_(std::make_unique<Core>()),
      pods_(std::make_unique<PodsCalls>(*core_)),
      user_(std::make_unique<UserCalls>(*core_)),
      version_(std::make_unique<VersionCalls>(*core_)),
      has_pods_(has_pods) {
  start();
}

void PodsServer::start() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address(), grpc::InsecureServerCredentials(), &port_);
  if (has_pods_) builder.RegisterService(pods_.get());
  builder.RegisterService(user_.get());
  builder.RegisterService(version_.get());
  server_ = builder.BuildAndStart();
  POP_CHECK(server_ != nullptr && port_ != 0);
}

PodsServer::~PodsServer() {
  stop();
}

void PodsServer::stop() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

void PodsServer::setConfigureDelay(std::chrono::milliseconds delay) {
  core_->setConfigureDelay(delay);
}

std::optional<v1::PartitionInfo> PodsServer::partition(const std::string& id) {
  return core_->info(id);
}

}  // namespace pop::testing
