// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/door.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/sys/unix_socket.h"
#include "libpopdist/collectives/group/end_notice_monitor.h"

namespace popdist::group {

using context::LinkError;
using pop::contract::Frame;
using transport::Introduction;

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};   // at end notices, and at the time
constexpr std::chrono::milliseconds kUntilNextTry{1};    // at a door that is not there yet
constexpr std::chrono::milliseconds kLongWait{300};      // then others are asked
constexpr std::chrono::milliseconds kAnswerSlack{1000};  // for the names of those that are missing

// In place of a group's number in introductions.
constexpr std::uint32_t kDoor = 0xffff'ffff;

// Groups that all instances make count from 0. Plugins may have less room: MPI's sends a group's messages
// under twice its number, and its tags may have 23 bits.
constexpr int kFirstNumber = 1 << 30;
constexpr int kFirstNumberOfPlugins = 1 << 21;

std::string keyOfDoor(int instance) {
  return std::string(context::kReservedKeys) + "door/" + std::to_string(instance);
}

}  // namespace

Door::Door(const context::ContextState& context, int instances)
    : context_(context),
      instances_(instances),
      ways_{.dial = [this](int instance) { return dial(instance); },
            .advance = [this](transport::Dialler& dialler,
                              int instance) { return advance(dialler, instance); }} {}

// ---- addresses

std::string Door::nameOf(int instance) const {
  const std::string what = "door of instance " + std::to_string(instance);
  const transport::Tag tag = transport::sipHash(job_, std::as_bytes(std::span(what)));
  std::string name = "popdist-";
  for (const std::byte each : tag) {
    constexpr const char* kDigits = "0123456789abcdef";
    name += {kDigits[std::to_integer<int>(each) >> 4], kDigits[std::to_integer<int>(each) & 15]};
  }
  return name;
}

pop::Status Door::listen() {
  const context::HostNetwork network = context_.link->network();
  if (network.job_key.size() != job_.size())
    return pop::failedPrecondition("this host's agent sent no key for connections between instances");
  std::memcpy(job_.data(), network.job_key.data(), job_.size());
  POP_ASSIGN_OR_RETURN(wake_, pop::sys::makePipe());
  POP_RETURN_IF_ERROR(pop::sys::setNonBlocking(wake_.read_end.get()));
  POP_RETURN_IF_ERROR(pop::sys::setNonBlocking(wake_.write_end.get()));
  pop::sys::Fd listener;
  if (overHosts()) {
    POP_ASSIGN_OR_RETURN(own_address_, transport::SocketAddress::parse(network.address, 0));
    POP_ASSIGN_OR_RETURN(listener, transport::listenOn(own_address_));
  } else {
    POP_ASSIGN_OR_RETURN(listener, pop::sys::listenAbstract(nameOf(context_.instance_index)));
  }
  reception_.emplace(job_, std::move(listener), sleeper_,
                     [this](const Introduction& introduction, transport::AcceptedStream stream) {
                       if (introduction.group != kDoor) return false;
                       callers_.push_back({static_cast<int>(introduction.from),
                                           {std::move(stream), transport::SealedFrames::Side::kAcceptor}});
                       return true;
                     });
  return {};
}

pop::Status Door::open() {
  return reception_ ? pop::Status() : listen();
}

// An instance that cannot listen says why, so that those that need it hear it.
LinkError Door::publish() {
  if (!overHosts()) return {};
  const pop::Status listens = listen();
  const std::string address = listens.ok() ? own_address_.text() + ' ' + std::to_string(own_address_.port())
                                           : '!' + listens.message();
  return context_.link->put(keyOfDoor(context_.instance_index), address, context_.timeout());
}

LinkError Door::learn() {
  if (!overHosts()) return {};
  context::Link::Values values;
  const std::string prefix = keyOfDoor(0).substr(0, keyOfDoor(0).size() - 1);
  if (LinkError error = context_.link->getAll(prefix, context_.timeout(), values); !error.ok()) return error;
  for (int instance = 0; instance < instances_; ++instance)
    addresses_[instance] = values[keyOfDoor(instance)];
  return {};
}

pop::Result<transport::Dialler> Door::dial(int instance) const {
  const Introduction introduction{.group = kDoor,
                                  .from = static_cast<std::uint32_t>(context_.instance_index),
                                  .to = static_cast<std::uint32_t>(instance),
                                  .nonce = transport::randomNonce()};
  if (overHosts()) return transport::Dialler(job_, introduction);
  POP_ASSIGN_OR_RETURN(pop::sys::Fd socket, pop::sys::connectAbstract(nameOf(instance)));
  return transport::Dialler(job_, introduction, std::move(socket));
}

pop::Result<std::optional<transport::AcceptedStream>> Door::advance(transport::Dialler& dialler,
                                                                    int instance) {
  if (!overHosts()) return dialler.advance({}, {}, sleeper_);
  const std::string& text = addresses_[instance];
  if (text.starts_with('!')) return pop::unavailable(text.substr(1));
  const std::vector<std::string> parts = pop::split(text, ' ');
  pop::Result<std::int64_t> port = pop::parseInteger(parts.size() == 2 ? parts[1] : "");
  if (!port.ok() || *port < 1 || *port > 0xffff)
    return pop::internalError("unreadable address " + pop::inQuotes(text));
  POP_ASSIGN_OR_RETURN(const auto peer, transport::SocketAddress::parse(parts[0], static_cast<int>(*port)));
  POP_ASSIGN_OR_RETURN(const auto own, transport::SocketAddress::parse(own_address_.text(), 0));
  return dialler.advance(own, peer, sleeper_);
}

// ---- meetings

LinkError Door::meet(const Proposal& own, const Members& members, Agreed& agreed) {
  std::unique_lock lock(mutex_);
  if (const pop::Status opened = open(); !opened.ok()) return {opened};
  if (undecided(own.name) != nullptr) {
    return {pop::failedPrecondition("another thread of this instance is making " + pop::inQuotes(own.name) +
                                    " already")};
  }
  NamedMeeting meeting(ways_, own, context_.instance_index, [this] { return takeNumber(); });
  meetings_.push_back(&meeting);
  wake();
  LinkError error = await(meeting, members, lock);
  meetings_.remove(&meeting);
  changed_.notify_all();
  if (!error.ok()) {
    if (error.status.code() == pop::Code::kUnavailable) context_.toldBy(error.instance);
    return error;
  }
  agreed = {.number = meeting.number(), .offers = meeting.takeOffers()};
  return {};
}

LinkError Door::await(NamedMeeting& meeting, const Members& members, std::unique_lock<std::mutex>& lock) {
  EndNoticeMonitor monitor(members);
  std::vector<int> ranks(static_cast<std::size_t>(members.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::erase(ranks, members.localRanks().front());
  const Clock::time_point begin = Clock::now();
  const Clock::time_point deadline = begin + context_.timeout();
  while (!meeting.isOver()) {
    const Clock::time_point now = Clock::now();
    if (is_moved_)
      changed_.wait_for(lock, kBetweenLooks);
    else
      turn(meeting, lock, now - begin > kLongWait);
    if (meeting.isOver()) break;
    if (monitor.anyEnded()) {
      const std::optional<exec::PeerLoss> loss = monitor.loss(ranks);
      if (loss) meeting.fail({{loss->code, loss->text}, loss->instance});
    }
    if (now >= deadline) meeting.timeIsUp(now >= deadline + kAnswerSlack);
  }
  return meeting.failure() == nullptr ? LinkError() : *meeting.failure();
}

// Does all that can be done for all meetings. Then, unless `own` is over, it sleeps until more can be done;
// only so do the threads of the others get the lock.
void Door::turn(const NamedMeeting& own, std::unique_lock<std::mutex>& lock, bool is_long) {
  std::array<char, 64> bytes;
  while (::read(wake_.read_end.get(), bytes.data(), bytes.size()) > 0) continue;
  sleeper_.prepare();
  sleeper_.awaiting(wake_.read_end.get(), POLLIN);
  reception_->receive();
  for (Caller& caller : callers_) admit(caller);
  std::erase_if(callers_, [](const Caller& caller) { return caller.is_done; });
  std::chrono::milliseconds limit = kBetweenLooks;
  for (NamedMeeting* const meeting : meetings_) {
    meeting->turn(sleeper_, is_long);
    if (meeting->triesAgainSoon()) limit = std::min(limit, kUntilNextTry);
  }
  changed_.notify_all();
  if (own.isOver()) return sleeper_.cancel();
  is_moved_ = true;
  lock.unlock();
  sleeper_.waitForRing(limit);
  lock.lock();
  is_moved_ = false;
}

// One that comes for a meeting that this instance has not begun waits.
void Door::admit(Caller& caller) {
  if (!caller.wants) {
    const std::optional<Frame> frame = caller.stream.next(sleeper_);
    caller.is_done = caller.stream.isGone();
    if (!frame) return;
    caller.wants = Proposal::fromFields(frame->fields);
    caller.only_asks = static_cast<DoorMessage>(frame->type) == DoorMessage::kAsk;
    caller.is_done = !caller.wants;
    if (caller.is_done) return;
  }
  NamedMeeting* const meeting = undecided(caller.wants->name);
  if (meeting != nullptr) compare(caller, *meeting);
  if (caller.is_done) return;
  caller.is_done = caller.stream.next(sleeper_).has_value() || caller.stream.isGone();  // it has given up
}

// Members of another set may have begun with another round.
void Door::compare(Caller& caller, NamedMeeting& meeting) {
  const Proposal& own = meeting.own();
  const Proposal& theirs = *caller.wants;
  const bool is_this_round = own.round == theirs.round;
  if (own.instance_of_rank != theirs.instance_of_rank || (is_this_round && own.settings != theirs.settings))
    return refuse(caller, meeting);
  const bool is_member =
      std::ranges::find(own.instance_of_rank, caller.instance) != own.instance_of_rank.end();
  caller.is_done = is_this_round || caller.only_asks || !meeting.leads() || !is_member;
  if (caller.only_asks || !meeting.leads() || !is_member || !is_this_round) return;
  meeting.welcome(caller.instance, std::move(*caller.wants), std::move(caller.stream));
}

void Door::refuse(Caller& caller, NamedMeeting& meeting) {
  const auto inWords = [](int instance, const Proposal& proposal) {
    return std::to_string(instance) + " makes it of " + setOf(proposal.instance_of_rank) + proposal.settings;
  };
  const pop::Status differ =
      pop::failedPrecondition("instances differ about " + pop::inQuotes(meeting.own().name) + ": instance " +
                              inWords(context_.instance_index, meeting.own()) + ", instance " +
                              inWords(caller.instance, *caller.wants));
  caller.stream.send(failedFrame({differ, context_.instance_index}));
  caller.is_done = true;
  meeting.fail({differ, caller.instance});
}

NamedMeeting* Door::undecided(const std::string& name) {
  const auto found = std::find_if(meetings_.begin(), meetings_.end(), [&](const NamedMeeting* meeting) {
    return meeting->own().name == name && !meeting->isDecided();
  });
  return found == meetings_.end() ? nullptr : *found;
}

// Every instance takes from numbers of its own, and none that a group of it still has.
int Door::takeNumber() {
  const int first = context_.backend.plugin == nullptr ? kFirstNumber : kFirstNumberOfPlugins;
  const int each = std::max(1, first / instances_);
  int number = first;
  do {
    number = first + context_.instance_index * each +
             static_cast<int>(numbers_taken_++ % static_cast<unsigned>(each));
  } while (context_.groups.has(number));
  return number;
}

void Door::wake() {
  static_cast<void>(::write(wake_.write_end.get(), "!", 1));
}

}  // namespace popdist::group
