// SPDX-License-Identifier: Apache-2.0
#include "runner/program/followers.h"

#include <utility>

#include "common/base/text.h"
#include "common/contract/record_streams.h"

namespace pop::runner {
namespace {

// Enough to keep a link busy while the next one is read.
constexpr std::size_t kBatchBytes = 256 << 10;

}  // namespace

// The streams of an earlier life of the daemon have no reader.
void Followers::follow(const ::popdist::v1::Follow& order) {
  const std::int64_t life = order.stream() >> contract::kStreamLifeShift;
  streams_.erase(streams_.begin(), streams_.lower_bound(life << contract::kStreamLifeShift));
  streams_.erase(order.stream());
  streams_.try_emplace(order.stream(), directory_, order);
}

void Followers::addCredit(const ::popdist::v1::Credit& order) {
  const auto found = streams_.find(order.stream());
  if (found != streams_.end()) found->second.addCredit(order.bytes());
}

void Followers::noMore() {
  no_more_ = true;
  appended();
}

// Begins behind the one that was served last.
bool Followers::send() {
  if (std::exchange(has_new_, false)) {
    for (auto& [stream, follower] : streams_) follower.look();
  }
  auto next = streams_.upper_bound(last_served_);
  bool has_more = false;
  for (std::size_t left = streams_.size(); left > 0; --left) {
    if (!link_.has_room()) return true;
    if (next == streams_.end()) next = streams_.begin();
    last_served_ = next->first;
    const auto served = next++;
    if (!sendFor(served->first, served->second))
      streams_.erase(served);
    else
      has_more |= served->second.mayHaveMore();
  }
  return has_more;
}

// False: its end was sent.
bool Followers::sendFor(std::int64_t stream, Follower& follower) {
  const bool may_end = no_more_ || follower.isBounded();
  if (!follower.mayHaveMore() && !may_end) return true;
  ::popdist::v1::RunnerReport report;
  ::popdist::v1::Records& records = *report.mutable_records();
  records.set_stream(stream);
  Status status = follower.take(kBatchBytes, records);
  if (!records.records().empty()) link_.send(report);
  bool is_at_end = false;
  if (status.ok() && may_end) {
    const Result<bool> at_end = follower.isAtEnd();
    status = at_end.status();
    is_at_end = at_end.ok() && at_end.value();
  }
  if (status.ok() && !is_at_end) return true;
  sendEnd(stream, status.message());
  return false;
}

void Followers::sendEnd(std::int64_t stream, const std::string& problem) {
  ::popdist::v1::RunnerReport report;
  report.mutable_end()->set_stream(stream);
  report.mutable_end()->set_problem(bounded(problem));
  link_.send(report);
}

}  // namespace pop::runner
