// SPDX-License-Identifier: Apache-2.0
#include "controller/hosts/conversations.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "common/model/end_times.h"

namespace pop {
namespace {

// The first message comes when a user begins to wonder; later ones are rarer.
constexpr std::chrono::milliseconds kFirstNotice{3000};
constexpr std::chrono::milliseconds kNextNotice{10000};

// `waiting`: one text for each host, such as "h7: ssh key exchange".
std::string waitingLine(std::vector<std::string> waiting, std::size_t num_hosts) {
  constexpr std::size_t kMostNamed = 4;
  const std::size_t all = waiting.size();
  waiting.resize(std::min(all, kMostNamed));
  return "poprun: waiting for " + std::to_string(all) + " of " +
         counted(static_cast<std::int64_t>(num_hosts), "host") + " (" + join(waiting, ", ") +
         (all > kMostNamed ? ", …)" : ")");
}

}  // namespace

HostConversation& Conversations::add(std::string name, wire::v1::Hello hello, ConversationEvents& events) {
  hosts_.push_back(std::make_unique<HostConversation>(loop_, access_, std::move(name), std::move(hello),
                                                      events, [this] { stopWhenOver(); }));
  return *hosts_.back();
}

void Conversations::start() {
  for (const int index : access_.service.hosts) {
    HostConversation& host = *hosts_.at(static_cast<std::size_t>(index));
    host.dialled(access_.service.dial(loop_, host.name()));
  }
  for (const BootstrapPart& part : access_.parts) part.bootstrapper->start(eventsFor(part.hosts));
  notice_ = loop_.postAfter(kFirstNotice, [this] { sayWhoIsWaitedFor(); });
}

BootstrapEvents Conversations::eventsFor(const std::vector<int>& hosts) {
  const auto at = [this, hosts](int index) -> HostConversation& {
    return *hosts_.at(static_cast<std::size_t>(hosts.at(static_cast<std::size_t>(index))));
  };
  return {.reached = [at](int index, ReachedHost how) { at(index).reached(std::move(how)); },
          .failed = [at](int index, const Status& why) { at(index).failed(why); },
          .ended = [at](int index, int exit_code) { at(index).streamEnded(exit_code); },
          .phase = [at](int index, const std::string& phase) { at(index).enter(phase); },
          .said =
              [this, at](int index, const std::string& line) {
                access_.say("poprun: " + at(index).name() + ": " + printable(line));
              }};
}

void Conversations::sayWhoIsWaitedFor() {
  notice_.reset();
  std::vector<std::string> waiting;
  for (const auto& host : hosts_) {
    if (host->isAwaited()) waiting.push_back(host->name() + ": " + host->phase());
  }
  if (waiting.empty()) return;
  access_.say(waitingLine(std::move(waiting), hosts_.size()));
  notice_ = loop_.postAfter(kNextNotice, [this] { sayWhoIsWaitedFor(); });
}

void Conversations::stopTelling() {
  if (notice_) loop_.cancel(*std::exchange(notice_, std::nullopt));
}

void Conversations::finish() {
  stopTelling();
  for (const auto& host : hosts_) host->finish();
  for (const BootstrapPart& part : access_.parts) part.bootstrapper->endBy(loop_.now() + kAgentEndTimeout);
}

void Conversations::runToEnd() {
  runs_to_end_ = true;
  stopWhenOver();
  loop_.run();
  stopTelling();
  access_.parts.clear();
}

void Conversations::stopWhenOver() {
  const bool over =
      std::all_of(hosts_.begin(), hosts_.end(), [](const auto& host) { return host->isOver(); });
  if (runs_to_end_ && over) loop_.post([this] { loop_.stop(); });
}

}  // namespace pop
