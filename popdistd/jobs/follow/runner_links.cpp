// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/follow/runner_links.h"

#include <utility>

#include "common/base/text.h"
#include "popdistd/jobs/host_bounds.h"

namespace pop::popdistd {
namespace {

// A feeder that dies before it has said a record will do so again.
constexpr int kMaxFeedersWithoutProgress = 3;

}  // namespace

v1::RunnerKey keyOf(const RunnerId& id) {
  v1::RunnerKey key;
  key.set_job(id.first);
  key.set_attempt(id.second);
  return key;
}

std::int64_t RunnerLinks::follow(const std::string& host, const RunnerId& runner,
                                 const FollowRequest& request, Events events) {
  const std::int64_t number = ++last_stream_;
  Stream& stream = streams_[number] = {host, runner, request, std::move(events)};
  const LinkId id(host, runner);
  Link& link = links_[id];
  link.streams.insert(number);
  link.presence == Presence::kThere ? sendFollow(number, stream) : wake(id, link);
  return number;
}

void RunnerLinks::unfollow(std::int64_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  sendUnfollow(found->second);
  forget(stream);
}

void RunnerLinks::sendUnfollow(Stream& stream) {
  if (stream.order == 0) return;
  v1::RunnerOrder order;
  order.set_unfollow(stream.order);
  this->order(stream.host, stream.runner, std::move(order));
  orders_.erase(std::exchange(stream.order, 0));
}

void RunnerLinks::credit(std::int64_t stream, std::int64_t bytes) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  found->second.request.credit_bytes += bytes;
  if (found->second.order == 0) return;
  v1::RunnerOrder order;
  order.mutable_credit()->set_stream(found->second.order);
  order.mutable_credit()->set_bytes(bytes);
  this->order(found->second.host, found->second.runner, std::move(order));
}

bool RunnerLinks::order(const std::string& host, const RunnerId& runner, v1::RunnerOrder order) {
  v1::HostOrder to_host;
  *to_host.mutable_runner()->mutable_key() = keyOf(runner);
  *to_host.mutable_runner()->mutable_order() = std::move(order);
  return send_(host, std::move(to_host));
}

// No process is there to send records: a feeder must come.
void RunnerLinks::wake(const LinkId& id, Link& link) {
  if (link.presence != Presence::kAbsent || link.streams.empty()) return;
  v1::HostOrder order;
  *order.mutable_feed() = keyOf(id.second);
  if (send_(id.first, std::move(order))) link.presence = Presence::kAsked;
}

// Under a new number each time: records that were under way when a connection was lost are not those that
// come next, and would hide what was lost with it.
void RunnerLinks::sendFollow(std::int64_t number, Stream& stream) {
  sendUnfollow(stream);
  stream.order = ++last_order_;
  orders_[stream.order] = number;
  v1::RunnerOrder order;
  v1::Follow& follow = *order.mutable_follow();
  follow.set_stream(stream.order);
  follow.set_from_sequence(stream.request.from_sequence);
  follow.set_events_only(stream.request.events_only);
  follow.set_until_now(stream.request.until_now);
  follow.set_credit_bytes(stream.request.credit_bytes);
  this->order(stream.host, stream.runner, std::move(order));
}

void RunnerLinks::joined(const std::string& host, const std::set<RunnerId>& runners) {
  for (const RunnerId& runner : runners) links_[{host, runner}];
  for (auto& [id, link] : links_) {
    if (id.first != host) continue;
    link.presence = runners.contains(id.second) ? Presence::kThere : Presence::kAbsent;
    if (link.presence == Presence::kAbsent) wake(id, link);
    if (link.presence != Presence::kThere) continue;
    for (const std::int64_t number : link.streams) sendFollow(number, streams_.at(number));
  }
}

void RunnerLinks::left(const std::string& host) {
  for (auto& [id, link] : links_) {
    if (id.first == host) link.presence = Presence::kAbsent;
  }
  std::erase_if(
      links_, [&host](const auto& each) { return each.first.first == host && each.second.streams.empty(); });
}

void RunnerLinks::said(const std::string& host, const RunnerId& runner, v1::RunnerReport report) {
  const LinkId id(host, runner);
  if (report.has_up()) {
    const auto there = links_.find(id);  // a host can name any runner
    if (there == links_.end()) return;
    Link& link = there->second;
    link.presence = Presence::kThere;
    for (const std::int64_t number : link.streams) sendFollow(number, streams_.at(number));
  } else if (report.has_records()) {
    receive(id, std::move(*report.mutable_records()));
  } else if (report.has_end()) {
    const auto found = streamOf(report.end().stream(), id);
    if (found == streams_.end()) return;
    const std::string& problem = report.end().problem();
    end(found->first, problem.empty() ? Status() : Status(Code::kDataLoss, printable(problem)));
  }
}

// Ignores an order that another link's runner names.
std::map<std::int64_t, RunnerLinks::Stream>::iterator RunnerLinks::streamOf(std::int64_t order,
                                                                            const LinkId& id) {
  const auto number = orders_.find(order);
  if (number == orders_.end()) return streams_.end();
  const auto found = streams_.find(number->second);
  return LinkId(found->second.host, found->second.runner) == id ? found : streams_.end();
}

void RunnerLinks::receive(const LinkId& id, v1::Records records) {
  const auto found = streamOf(records.stream(), id);
  if (found == streams_.end()) return;
  links_[id].feeders_without_progress = 0;
  Stream& stream = found->second;
  auto& all = *records.mutable_records();
  int fresh = 0;
  for (int at = 0; at < all.size(); ++at) {
    stream.request.credit_bytes -= contract::creditOf(all[at].bytes().size());
    if (all[at].sequence() > kMostNumber)
      return end(found->first,
                 {Code::kDataLoss, "a record has the number " + std::to_string(all[at].sequence()) +
                                       ", which no runner reaches"});
    if (all[at].sequence() < stream.request.from_sequence) continue;
    stream.request.from_sequence = all[at].sequence() + 1;
    all.SwapElements(fresh++, at);
  }
  all.DeleteSubrange(fresh, all.size() - fresh);
  if (all.empty()) return;
  records.set_stream(found->first);
  const auto tell = stream.events.records;  // which may end the stream
  tell(records);
}

void RunnerLinks::gone(const std::string& host, const RunnerId& runner) {
  const auto found = links_.find({host, runner});
  if (found == links_.end()) return;
  Link& link = found->second;
  link.presence = Presence::kAbsent;
  if (link.streams.empty()) {
    links_.erase(found);
    return;
  }
  if (++link.feeders_without_progress <= kMaxFeedersWithoutProgress) return wake(found->first, link);
  refused(host, runner, {Code::kDataLoss, "the job's records on host " + host + " cannot be read"});
}

bool RunnerLinks::awaitsFeeder(const std::string& host, const RunnerId& runner) const {
  const auto found = links_.find({host, runner});
  return found != links_.end() && found->second.presence == Presence::kAsked;
}

void RunnerLinks::refused(const std::string& host, const RunnerId& runner, const Status& why) {
  const auto found = links_.find({host, runner});
  if (found == links_.end()) return;
  found->second.presence = Presence::kAbsent;
  const std::set<std::int64_t> streams = found->second.streams;
  if (streams.empty()) links_.erase(found);
  for (const std::int64_t stream : streams) end(stream, why);
}

void RunnerLinks::end(std::int64_t stream, const Status& why) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  const auto tell = std::move(found->second.events.ended);
  forget(stream);
  tell(why);
}

void RunnerLinks::forget(std::int64_t stream) {
  const auto found = streams_.find(stream);
  const LinkId id(found->second.host, found->second.runner);
  orders_.erase(found->second.order);
  streams_.erase(found);
  const auto link = links_.find(id);
  link->second.streams.erase(stream);
  if (link->second.presence == Presence::kAbsent && link->second.streams.empty()) links_.erase(link);
}

}  // namespace pop::popdistd
