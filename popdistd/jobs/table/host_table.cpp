// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/table/host_table.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "common/contract/version.h"

namespace pop::popdistd {
namespace {

constexpr std::size_t kMostVersionBytes = 256;              // and of a boot's id
constexpr std::int64_t kMostClockMs = 253'402'300'799'999;  // the end of the year 9999

std::int64_t millisecondsSince1970(const WallClock& clock) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock().time_since_epoch()).count();
}

// A host's own words are shown to users: they are made printable and bounded.
void takeInventory(const v1::HostJoins& joins, int most_slots, v1::HostInfo& info) {
  info.set_name(joins.name());
  info.set_version(bounded(printable(joins.version()), kMostVersionBytes));
  info.set_protocol(joins.protocol());
  info.set_boot_id(bounded(printable(joins.boot_id()), kMostVersionBytes));
  info.set_num_cores(joins.num_cores());
  info.set_num_memory_nodes(joins.num_memory_nodes());
  info.set_memory_bytes(joins.memory_bytes());
  const bool says_more = most_slots > 0 && joins.slots() > most_slots;
  info.set_slots(says_more ? most_slots : joins.slots());
  info.set_slots_said(says_more ? joins.slots() : 0);
  info.set_agent_port(joins.agent_port());
}

}  // namespace

std::string whyNotSchedulable(const Host& host) {
  const v1::HostInfo& info = host.info();
  const std::string name = "host " + info.name();
  if (!host.isUp()) return name + (info.state() == v1::HOST_DOWN ? " is down" : " is silent");
  if (info.drained()) return name + " is drained: " + info.drain_reason();
  return info.not_schedulable().empty() ? "" : name + ": " + info.not_schedulable();
}

std::chrono::seconds pauseAfter(int refusals) {
  constexpr std::chrono::seconds kLongest = std::chrono::minutes(5);
  return refusals > 9 ? kLongest : std::min(kLongest, std::chrono::seconds(1 << (refusals - 1)));
}

std::string whyPaused(const Host& host, const std::string& user, Clock::time_point now) {
  const auto pause = host.pauses.find(user);
  if (pause == host.pauses.end() || pause->second.until <= now) return "";
  return "host " + host.info().name() + " could not start its runner: " + pause->second.why +
         "; it is tried again after " + std::to_string(pauseAfter(pause->second.refusals).count()) +
         " s, or by popctl resume host";
}

void HostTable::load(const std::vector<v1::HostRecord>& records) {
  hosts_.clear();
  names_.clear();
  for (const v1::HostRecord& record : records) {
    Host& host = hosts_[record.info().name()];
    host.record = record;
    host.heard = loop_.now();
    v1::HostInfo& info = *host.record.mutable_info();
    if (info.state() == v1::HOST_UP) info.set_state(v1::HOST_SILENT);
    info.set_revision(revisions_.changed(info.name(), 0));
  }
}

Status HostTable::joined(const v1::HostJoins& joins, const std::string& address,
                         std::shared_ptr<HostChannel> channel) {
  Host& host = hosts_[joins.name()];
  if (host.channel != nullptr) {
    if (host.info().boot_id() != joins.boot_id() && loop_.now() - host.heard < rules_.silent) {
      return {Code::kAlreadyExists, "a host of the name " + inQuotes(joins.name()) +
                                        " has joined already, from " + host.info().address() +
                                        ": give this one another name (popdist-agent serve --name)"};
    }
    names_.erase(host.channel.get());
    host.channel->close(
        {Code::kAborted, "host " + inQuotes(joins.name()) + " has joined again, from " + address});
  }
  names_[channel.get()] = joins.name();
  host.channel = std::move(channel);
  v1::HostInfo& info = *host.record.mutable_info();
  takeInventory(joins, rules_.most_slots, info);
  info.set_address(address);
  info.set_state(v1::HOST_UP);
  info.set_not_schedulable(joins.protocol() == contract::kHostProtocol
                               ? ""
                               : "it speaks protocol " + std::to_string(joins.protocol()) +
                                     ", and popdistd " + std::to_string(contract::kHostProtocol) +
                                     ": install the same version of poprun on both");
  heard(host, joins.clock_ms());
  changed(host);
  return {};
}

// A host that is heard of every five seconds changes only when something else does.
void HostTable::heard(Host& host, std::int64_t clock_ms) {
  host.heard = loop_.now();
  host.is_unheard = false;
  v1::HostInfo& info = *host.record.mutable_info();
  *info.mutable_last_heard() = timestamp(clock_());
  const bool is_time = clock_ms > 0 && clock_ms <= kMostClockMs;
  if (is_time) info.set_clock_ahead_ms(clock_ms - millisecondsSince1970(clock_));
  if (info.state() == v1::HOST_UP) return;
  info.set_state(v1::HOST_UP);
  changed(host);
}

void HostTable::left(Host& host) {
  names_.erase(host.channel.get());
  host.channel = nullptr;
  host.record.mutable_info()->set_state(v1::HOST_SILENT);
  changed(host);
}

void HostTable::drain(Host& host, const std::string& reason, const std::string& by) {
  v1::HostInfo& info = *host.record.mutable_info();
  info.set_drained(true);
  info.set_drain_reason(bounded(printable(reason)));
  info.set_drained_by(by);
  *info.mutable_drained_at() = timestamp(clock_());
  changed(host);
}

void HostTable::resume(Host& host) {
  host.pauses.clear();
  v1::HostInfo& info = *host.record.mutable_info();
  info.set_drained(false);
  info.clear_drain_reason();
  info.clear_drained_by();
  info.clear_drained_at();
  changed(host);
}

void HostTable::remove(const std::string& name) {
  const auto found = hosts_.find(name);
  if (found == hosts_.end()) return;
  revisions_.removed(name, found->second.info().revision());
  hosts_.erase(found);
}

Host* HostTable::find(const std::string& name) {
  const auto found = hosts_.find(name);
  return found == hosts_.end() ? nullptr : &found->second;
}

const Host* HostTable::find(const std::string& name) const {
  const auto found = hosts_.find(name);
  return found == hosts_.end() ? nullptr : &found->second;
}

Host* HostTable::find(const HostChannel& channel) {
  const auto found = names_.find(&channel);
  return found == names_.end() ? nullptr : find(found->second);
}

void HostTable::tick() {
  for (auto& [name, host] : hosts_) {
    const auto silence = loop_.now() - host.heard;
    const v1::HostState state = silence >= rules_.down                                ? v1::HOST_DOWN
                                : silence >= rules_.silent || host.channel == nullptr ? v1::HOST_SILENT
                                                                                      : v1::HOST_UP;
    const bool is_unheard = silence >= rules_.silent;
    if (state == host.info().state() && is_unheard == host.is_unheard) continue;
    host.is_unheard = is_unheard;
    host.record.mutable_info()->set_state(state);
    changed(host);
  }
}

void HostTable::changed(Host& host) {
  v1::HostInfo& info = *host.record.mutable_info();
  info.set_revision(revisions_.changed(info.name(), info.revision()));
  save_(host);
}

}  // namespace pop::popdistd
