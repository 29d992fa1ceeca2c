// SPDX-License-Identifier: Apache-2.0
#include "runner/program/order_stream.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "common/contract/record_streams.h"

namespace pop::runner {
namespace {

// Orders are short.
constexpr std::size_t kMostOrderBytes = 64 << 10;

// A runner that ends waits this long until its last reports, such as the end of its job, have left it.
constexpr std::chrono::milliseconds kLastWords{5000};

// Orders of another version of the service are reported and ignored, since the job can go on without them.
void complain(const char* what) {
  std::fprintf(stderr, "popdist-runner: %s from the agent service was ignored\n", what);
}

}  // namespace

OrderStream::OrderStream(os::EpollLoop& loop, sys::Stdio stdio, const std::string& directory, Events events)
    : loop_(loop),
      events_(std::move(events)),
      stream_(loop, std::move(stdio.in), std::move(stdio.out),
              {.message = [this](const std::string& message) { receive(message); },
               .ended =
                   [this](const Status&) {
                     is_gone_ = true;
                     followers_.clear();
                     events_.gone();
                   },
               .written = [this] { sendSoon(); }}),
      followers_(directory,
                 {.send = [this](const ::popdist::v1::RunnerReport& report) { stream_.send(report); },
                  .has_room = [this] { return stream_.flushed(); }}) {
  stream_.setMostBytes(kMostOrderBytes);
}

OrderStream::~OrderStream() {
  if (!is_gone_) stream_.flush(kLastWords);
}

void OrderStream::up(bool is_feeder, std::uint64_t last_sequence) {
  ::popdist::v1::RunnerReport report;
  report.mutable_up()->set_is_feeder(is_feeder);
  report.mutable_up()->set_last_sequence(last_sequence);
  stream_.send(report);
}

void OrderStream::reported(const std::vector<JobValue>& values) {
  if (!stream_.flushed()) return;
  ::popdist::v1::RunnerReport report;
  report.mutable_values();
  for (const JobValue& each : values) {
    ::popdist::v1::JobValue& value = *report.mutable_values()->add_values();
    value.set_name(each.name);
    value.set_fold(static_cast<::popdist::v1::Fold>(each.fold));
    value.set_value(each.value);
    value.set_instances(each.instances);
  }
  stream_.send(report);
}

void OrderStream::appended() {
  if (followers_.empty()) return;
  followers_.appended();
  sendSoon();
}

void OrderStream::noMore() {
  followers_.noMore();
  sendSoon();
}

// Once for all that is appended or ordered in a turn of the loop, and one round of batches in each turn: the
// job's own events come in between.
void OrderStream::sendSoon() {
  if (followers_.empty() || std::exchange(sends_soon_, true)) return;
  loop_.post([this] {
    sends_soon_ = false;
    const bool has_more = followers_.send();
    if (followers_.empty()) return events_.idle();
    if (has_more && stream_.flushed()) sendSoon();
  });
}

void OrderStream::receive(const std::string& message) {
  ::popdist::v1::RunnerOrder order;
  if (!order.ParseFromString(message)) return complain("a malformed order");
  handle(order);
  events_.heard();
}

void OrderStream::handle(const ::popdist::v1::RunnerOrder& order) {
  using ::popdist::v1::RunnerOrder;
  switch (order.body_case()) {
    case RunnerOrder::kFollow:
      followers_.follow(order.follow());
      return sendSoon();
    case RunnerOrder::kCredit:
      followers_.addCredit(order.credit());
      return sendSoon();
    case RunnerOrder::kUnfollow:
      return followers_.unfollow(order.unfollow());
    case RunnerOrder::kStop:
      return stop(order.stop());
    case RunnerOrder::kSignal:
      return passOn(order.signal(), events_.signal);
    case RunnerOrder::kRetire:
      return events_.retire();
    case RunnerOrder::BODY_NOT_SET:
      return complain("an order of an unknown kind");
  }
}

// One that was lost on its way is ordered again.
void OrderStream::stop(const ::popdist::v1::Stop& order) {
  if (order.number() <= num_stops_) return;
  num_stops_ = order.number();
  if (order.number() >= contract::kServicesStop && events_.service_stops) events_.service_stops();
  passOn(order.signal(), events_.stop);
}

void OrderStream::passOn(int signal, const std::function<void(int)>& to) {
  if (signal < 1 || signal >= NSIG) return complain("a signal that does not exist");
  to(signal);
}

}  // namespace pop::runner
