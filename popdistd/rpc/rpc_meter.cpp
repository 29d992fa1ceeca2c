// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/rpc_meter.h"

#include <optional>
#include <string_view>
#include <utility>

namespace pop::popdistd {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;
using SteadyClock = std::chrono::steady_clock;

// "/popdist.v1.Controller/Submit"
std::pair<std::string, std::string> serviceAndMethod(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {"", std::string(path)};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

// One call, from its arrival until gRPC is done with it.
class CountedCall final : public grpc::experimental::Interceptor {
 public:
  CountedCall(std::shared_ptr<RpcMeter> meter, const ServerRpcInfo& call)
      : meter_(std::move(meter)),
        name_(serviceAndMethod(call.method())),
        streams_(call.type() != ServerRpcInfo::Type::UNARY),
        takes_one_(!streams_ || call.type() == ServerRpcInfo::Type::SERVER_STREAMING),
        begun_(SteadyClock::now()) {
    if (streams_) meter_->began(name_.second);
  }
  ~CountedCall() override {
    if (streams_) meter_->closed(name_.second);
  }
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;

  void Intercept(InterceptorBatchMethods* step) override {
    if (step->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      nameGarbage(*step);
      const std::chrono::duration<double> passed = SteadyClock::now() - begun_;
      meter_->answered({name_.first, name_.second, static_cast<int>(step->GetSendStatus().error_code())},
                       streams_ ? std::nullopt : std::optional(passed.count()));
    }
    step->Proceed();
  }

 private:
  // gRPC answers a message that it cannot parse as if the method were not there, without a word.
  void nameGarbage(InterceptorBatchMethods& step) const {
    const grpc::Status status = step.GetSendStatus();
    if (!takes_one_ || status.error_code() != grpc::StatusCode::UNIMPLEMENTED ||
        !status.error_message().empty())
      return;
    step.ModifySendStatus({grpc::StatusCode::INVALID_ARGUMENT, "the message cannot be read: it is not what " +
                                                                   name_.second + " of " + name_.first +
                                                                   " takes, or was damaged"});
  }

  const std::shared_ptr<RpcMeter> meter_;
  const std::pair<std::string, std::string> name_;
  const bool streams_;
  const bool takes_one_;  ///< message of the client, which gRPC reads
  const SteadyClock::time_point begun_;
};

class Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(std::shared_ptr<RpcMeter> meter) : meter_(std::move(meter)) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(ServerRpcInfo* call) override {
    return new CountedCall(meter_, *call);
  }

 private:
  const std::shared_ptr<RpcMeter> meter_;
};

}  // namespace

RpcMeters RpcMeter::meters() const {
  const std::lock_guard lock(mutex_);
  return meters_;
}

void RpcMeter::began(const std::string& stream) {
  const std::lock_guard lock(mutex_);
  ++meters_.open[stream];
}

void RpcMeter::closed(const std::string& stream) {
  const std::lock_guard lock(mutex_);
  --meters_.open[stream];
}

void RpcMeter::answered(const RpcMeters::Key& how, std::optional<double> seconds) {
  const std::lock_guard lock(mutex_);
  ++meters_.requests[how];
  if (seconds) meters_.seconds.add(*seconds);
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> counting(
    std::shared_ptr<RpcMeter> meter) {
  return std::make_unique<Factory>(std::move(meter));
}

}  // namespace pop::popdistd
