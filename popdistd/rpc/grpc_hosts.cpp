// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/grpc_services.h"

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "popdistd/rpc/peer_of.h"
#include "popdistd/rpc/stream_call.h"
#include "proto/popdist/v1/host.grpc.pb.h"

namespace pop::popdistd {
namespace {

// A host that does not read for long is cut off (Calls::Limits); until then this much may wait for it.
constexpr std::size_t kMostQueuedBytes = 64 * 1024 * 1024;

constexpr std::chrono::milliseconds kLookEvery{1000};

class OrderQueue final : public Source<v1::HostOrder> {
 public:
  void push(v1::HostOrder order) {
    bytes_ += order.ByteSizeLong();
    orders_.push_back(std::move(order));
  }
  /// Once what is queued has been sent.
  void endWith(Status how) { end_ = std::move(how); }
  std::size_t bytes() const { return bytes_; }

  std::optional<v1::HostOrder> next() override {
    if (orders_.empty()) return std::nullopt;
    v1::HostOrder order = std::move(orders_.front());
    orders_.pop_front();
    bytes_ -= order.ByteSizeLong();
    return order;
  }
  std::optional<Status> ended() const override { return end_; }

 private:
  std::deque<v1::HostOrder> orders_;
  std::size_t bytes_ = 0;
  std::optional<Status> end_;
};

using HostCall = StreamCall<grpc::ServerBidiReactor<v1::HostReport, v1::HostOrder>, v1::HostOrder>;

class HostStream;

Status mayBegin(const CallersOf& callers, const Peer& peer) {
  POP_RETURN_IF_ERROR(checkIsHost(peer));
  return callers.isStillGood(peer);
}

// Those of a service, by their connections: each has one. On the loop's thread.
using HostStreams = std::map<End, HostStream*>;

// One report at a time is read ahead: a host that floods the daemon is slowed by the flow control of its
// stream.
class HostStream final : public HostCall, public HostChannel {
 public:
  HostStream(grpc::CallbackServerContext& context, const std::shared_ptr<Calls>& calls, HostGate& gate,
             std::shared_ptr<const CallersOf> callers, std::shared_ptr<HostStreams> streams, const Peer& peer)
      : HostCall(context, calls, {}, mayBegin(*callers, peer)),
        calls_(calls),
        gate_(gate),
        callers_(std::move(callers)),
        streams_(std::move(streams)),
        socket_end_(CallersOf::endOf(context)),
        peer_(peer) {}

  void OnReadDone(bool ok) override {
    post([this, ok] {
      if (over()) return;
      if (!ok) return end(unavailable("the host has ended its stream"));
      received();
    });
  }

  // ---- HostChannel

  void send(v1::HostOrder order) override {
    post([this, order = std::move(order)]() mutable { queue(std::move(order)); });
  }

  void close(Status why) override {
    if (closed_.exchange(true)) return;
    post([this, why = std::move(why)] {
      if (over() || orders_ == nullptr) return end(why);
      orders_->endWith(why);
      ready()();
    });
  }

 private:
  // A host that begins again by the same connection has given its earlier stream up.
  void begin() override {
    HostStream*& of_connection = (*streams_)[socket_end_];
    if (HostStream* const earlier = std::exchange(of_connection, this); earlier != nullptr)
      earlier->end({Code::kAborted, "another stream of the same connection has come"});
    const std::chrono::milliseconds limit = calls_->limits().join_timeout;
    wait_ = calls_->loop().postAfter(limit, [this, limit] {
      wait_.reset();
      end({Code::kDeadlineExceeded, "no host has joined for " + secondsText(limit) + " s"});
    });
    auto orders = std::make_unique<OrderQueue>();
    orders_ = orders.get();
    HostCall::send(std::move(orders));
    StartRead(&report_);
  }

  void received() {
    if (closed_) return;
    if (!joined_) return join();
    gate_.said(*this, std::move(report_));
    readOn();
  }

  void join() {
    if (!report_.has_joins()) return end(invalidArgument("a host's first message has to be HostJoins"));
    const v1::HostJoins& joins = report_.joins();
    if (const Status may = checkMayJoin(peer_, joins.name()); !may.ok()) return end(may);
    if (const Status may = calls_->count(*this, "host " + printable(joins.name())); !may.ok())
      return end(may);
    stopWaiting();
    callers_->isKnown(socket_end_);
    lookAgain();
    joined_ = true;
    const auto self = std::static_pointer_cast<HostStream>(shared_from_this());
    if (const Status welcome = gate_.joined(joins, peer_.address, self); !welcome.ok()) {
      closed_ = true;
      return end(welcome);
    }
    readOn();
  }

  void readOn() {
    if (over() || closed_) return;
    report_.Clear();
    StartRead(&report_);
  }

  void queue(v1::HostOrder order) {
    if (over() || orders_ == nullptr) return;
    orders_->push(std::move(order));
    if (orders_->bytes() > kMostQueuedBytes)
      return end({Code::kResourceExhausted, "the host does not read its orders"});
    ready()();
  }

  void lookAgain() {
    wait_ = calls_->loop().postAfter(kLookEvery, [this] {
      wait_.reset();
      if (const Status good = callers_->isStillGood(peer_); !good.ok()) return end(good);
      lookAgain();
    });
  }

  void stopWaiting() {
    if (wait_) calls_->loop().cancel(*std::exchange(wait_, std::nullopt));
  }

  void release() override {
    stopWaiting();
    if (const auto own = streams_->find(socket_end_); own != streams_->end() && own->second == this)
      streams_->erase(own);
    orders_ = nullptr;
    HostCall::release();
    if (joined_ && !closed_.exchange(true)) gate_.left(*this, why());
  }

  const std::shared_ptr<Calls> calls_;
  HostGate& gate_;
  const std::shared_ptr<const CallersOf> callers_;
  const std::shared_ptr<HostStreams> streams_;
  const End socket_end_;  ///< of its connection, which another popdistd may pass on
  const Peer peer_;
  std::optional<TimerId> wait_;   ///< for which host it is; then for a look at its certificate
  v1::HostReport report_;         ///< gRPC's while it is read
  OrderQueue* orders_ = nullptr;  ///< the stream's source
  bool joined_ = false;
  std::atomic<bool> closed_ = false;  ///< by the gate, which hears nothing more
};

class HostsService final : public v1::Hosts::CallbackService {
 public:
  HostsService(std::shared_ptr<Calls> calls, HostGate& gate, std::shared_ptr<const CallersOf> callers)
      : calls_(std::move(calls)), gate_(gate), callers_(std::move(callers)) {}

  grpc::ServerBidiReactor<v1::HostReport, v1::HostOrder>* Join(
      grpc::CallbackServerContext* context) override {
    const auto call =
        std::make_shared<HostStream>(*context, calls_, gate_, callers_, streams_, callers_->peer(*context));
    call->arrive();
    return call.get();
  }

 private:
  const std::shared_ptr<Calls> calls_;
  HostGate& gate_;
  const std::shared_ptr<const CallersOf> callers_;
  const std::shared_ptr<HostStreams> streams_ = std::make_shared<HostStreams>();
};

}  // namespace

std::unique_ptr<grpc::Service> makeHostsService(std::shared_ptr<Calls> calls, HostGate& gate,
                                                std::shared_ptr<const CallersOf> callers) {
  return std::make_unique<HostsService>(std::move(calls), gate, std::move(callers));
}

}  // namespace pop::popdistd
