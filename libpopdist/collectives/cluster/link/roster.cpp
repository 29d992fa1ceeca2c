// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/link/roster.h"

#include <unistd.h>

#include <algorithm>
#include <span>

#include "common/base/text.h"
#include "common/sys/host_name.h"
#include "libpopdist/collectives/cluster/link/wire.h"

namespace popdist::cluster {
namespace {

using pop::Status;
using pop::contract::Frame;

enum Field : std::size_t { kGreetingAt, kProtocolAt, kInstanceAt, kProcessAt, kOptionsAt, kRosterAt };

// No instance of ours sends longer ones; it is shown to people.
constexpr std::size_t kMostProcessBytes = 80;
constexpr std::size_t kShownBytes = 80;

std::string shown(const std::string& text) {
  return pop::inQuotes(text.substr(0, kShownBytes));
}

Status notAMember(const char* why) {
  return pop::invalidArgument(std::string("the caller is no instance of a cluster: ") + why);
}

// Each instance as "task address".
std::vector<std::string> linesOf(const Roster& roster) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < roster.workers.size(); ++i)
    lines.push_back(roster.tasks[i] + ' ' + roster.workers[i]);
  return lines;
}

Status compare(const Roster& mine, std::span<const std::string> theirs, const std::string& caller) {
  const std::string advice = ": give every process the same list";
  if (theirs.size() != mine.workers.size()) {
    return pop::failedPrecondition(caller + " has " +
                                   pop::counted(static_cast<std::int64_t>(theirs.size()), "instance") +
                                   " in its cluster, instance 0 has " + std::to_string(mine.size()) + advice);
  }
  const std::vector<std::string> lines = linesOf(mine);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (theirs[i] == lines[i]) continue;
    return pop::failedPrecondition("instance " + std::to_string(i) + " is " + shown(theirs[i]) +
                                   " in the cluster of " + caller + ", and " + shown(lines[i]) +
                                   " in that of instance 0" + advice);
  }
  return {};
}

}  // namespace

std::string Roster::nameOf(int instance) const {
  const auto i = static_cast<std::size_t>(instance);
  return "instance " + std::to_string(instance) + " (" + tasks[i] + " at " + workers[i] + ')';
}

std::vector<std::string> Roster::names() const {
  std::vector<std::string> names;
  for (int i = 0; i < size(); ++i) names.push_back(nameOf(i));
  return names;
}

Frame helloOf(const Roster& roster, int instance) {
  const std::string process =
      ("pid " + std::to_string(::getpid()) + " on " + pop::sys::hostName()).substr(0, kMostProcessBytes);
  Frame hello{static_cast<std::uint8_t>(Message::kHello),
              {kGreeting, std::to_string(kProtocol), std::to_string(instance), process, roster.options}};
  for (std::string& line : linesOf(roster)) hello.fields.push_back(std::move(line));
  return hello;
}

pop::Result<Member> memberOf(const Roster& roster, const Frame& hello) {
  const std::vector<std::string>& fields = hello.fields;
  if (static_cast<Message>(hello.type) != Message::kHello || fields.size() < kProtocolAt + 1 ||
      fields[kGreetingAt] != kGreeting)
    return notAMember("it does not say hello");
  if (fields[kProtocolAt] != std::to_string(kProtocol)) {
    return pop::failedPrecondition("the caller's libpopdist speaks version " + shown(fields[kProtocolAt]) +
                                   " of the cluster's protocol, that of instance 0 speaks version " +
                                   std::to_string(kProtocol) +
                                   ": build all programs with the same libpopdist");
  }
  if (fields.size() < kRosterAt || fields[kProcessAt].size() > kMostProcessBytes)
    return notAMember("its hello is malformed");
  pop::Result<int> instance = pop::contract::numberField(hello, kInstanceAt);
  if (!instance.ok()) return notAMember("its hello has no index");
  const std::string process = pop::printable(fields[kProcessAt]);
  const std::string caller = "instance " + std::to_string(*instance) + " (" + process + ')';
  POP_RETURN_IF_ERROR(compare(roster, std::span(fields).subspan(kRosterAt), caller));
  if (*instance >= roster.size()) return notAMember("its index is out of range");
  if (fields[kOptionsAt] != roster.options) {
    return pop::failedPrecondition(caller + " has ClusterOptions of " + shown(fields[kOptionsAt]) +
                                   " for each instance, instance 0 has " + shown(roster.options));
  }
  return Member{*instance, process};
}

}  // namespace popdist::cluster
