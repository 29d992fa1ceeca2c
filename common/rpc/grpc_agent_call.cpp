// SPDX-License-Identifier: Apache-2.0
#include "common/rpc/grpc_agent_call.h"

#include <grpcpp/grpcpp.h>

#include <future>
#include <utility>

#include "common/rpc/grpc_status.h"
#include "common/rpc/write_queue.h"
#include "proto/popdist/v1/agent.grpc.pb.h"

namespace pop::rpc {

void endJob(Loop& loop, const std::shared_ptr<grpc::Channel>& channel, v1::EndJobRequest request,
            std::chrono::milliseconds patience, std::function<void(Status)> done) {
  struct Call {
    std::unique_ptr<v1::Agent::Stub> stub;
    grpc::ClientContext context;
    v1::EndJobRequest request;
    v1::Nothing reply;
  };
  auto* const call = new Call;  // the loop's in the end: the last channel must not go on a thread of gRPC's
  call->stub = v1::Agent::NewStub(channel);
  call->context.set_deadline(std::chrono::system_clock::now() + patience);
  call->request = std::move(request);
  call->stub->async()->EndJob(
      &call->context, &call->request, &call->reply,
      [&loop, call, done = std::move(done)](const grpc::Status& status) {
        loop.post([owned = std::shared_ptr<Call>(call), done, status] { done(fromGrpc(status)); });
      });
}

// Lives until gRPC is done with it; `events_` are the owner's only as long as that one is there.
class GrpcAgentCall::Reactor final : public grpc::ClientBidiReactor<v1::Command, v1::Report>,
                                     public std::enable_shared_from_this<Reactor> {
 public:
  Reactor(Loop& loop, std::shared_ptr<grpc::Channel> channel, Events events)
      : loop_(loop),
        channel_(std::move(channel)),
        stub_(v1::Agent::NewStub(channel_)),
        events_(std::move(events)) {}

  void start() {
    self_ = shared_from_this();
    stub_->async()->Run(&context_, this);
    AddHold();  // for the queue, which writes from outside of reactions
    StartRead(&incoming_);
    StartCall();
  }

  void send(v1::Command command) { queue_.push(std::move(command)); }

  void close() {
    queue_.close([this] {
      StartWritesDone();
      RemoveHold();
    });
  }

  void abandon() {
    abandoned_ = true;
    context_.TryCancel();
    close();
    done_.wait();  // what gRPC has still to say goes to the loop, which may end next
  }

  void OnReadDone(bool ok) override {
    if (!ok) return close();  // the end, of which OnDone says the reason
    loop_.post([self = self_, report = std::make_shared<v1::Report>(std::move(incoming_))] {
      if (!self->abandoned_) self->events_.report(std::move(*report));
    });
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override { queue_.written(ok); }

  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<std::promise<void>> done = promise_;
    loop_.post([self = std::exchange(self_, nullptr), status] {
      if (!self->abandoned_) self->events_.ended(fromGrpc(status));
    });
    done->set_value();
  }

 private:
  Loop& loop_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::Agent::Stub> stub_;
  const Events events_;
  grpc::ClientContext context_;
  v1::Report incoming_;
  WriteQueue<Reactor, v1::Command> queue_{*this};
  std::shared_ptr<Reactor> self_;  ///< until OnDone
  bool abandoned_ = false;         ///< the loop's
  const std::shared_ptr<std::promise<void>> promise_ = std::make_shared<std::promise<void>>();
  const std::future<void> done_ = promise_->get_future();
};

GrpcAgentCall::GrpcAgentCall(Loop& loop, std::shared_ptr<grpc::Channel> channel, Events events)
    : reactor_(std::make_shared<Reactor>(loop, std::move(channel), std::move(events))) {
  reactor_->start();
}

GrpcAgentCall::~GrpcAgentCall() {
  reactor_->abandon();
}

void GrpcAgentCall::send(v1::Command command) {
  reactor_->send(std::move(command));
}

void GrpcAgentCall::close() {
  reactor_->close();
}

}  // namespace pop::rpc
