// SPDX-License-Identifier: Apache-2.0
#include "controller/hosts/stdin_relay.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <utility>

namespace pop {

StdinRelay::StdinRelay(os::EpollLoop& loop) : loop_(loop), feed_(loop, STDIN_FILENO) {
  feed_.begin({.who = model::StdinPolicy::Who::kAll}, 0);
}

StdinRelay::~StdinRelay() {
  for (const std::unique_ptr<Receiver>& receiver : receivers_) end(*receiver);
}

Status StdinRelay::begin(const std::vector<RemoteAgent*>& hosts) {
  is_second_attempt_ = !receivers_.empty();
  keepOnly(hosts);
  if (failure_.ok()) failure_ = add(hosts);
  if (!failure_.ok()) giveUp(hosts);
  return failure_;
}

// In the next attempt the instances of a host first read what its agent received and no instance read, so
// data on its way to that agent must follow.
void StdinRelay::keepOnly(const std::vector<RemoteAgent*>& hosts) {
  std::erase_if(receivers_, [&](const std::unique_ptr<Receiver>& each) {
    const bool goes_on = std::find(hosts.begin(), hosts.end(), each->host) != hosts.end();
    if (goes_on && !each->unread && !each->host->lost()) return false;
    end(*each);
    return true;
  });
}

Status StdinRelay::add(const std::vector<RemoteAgent*>& hosts) {
  std::vector<RemoteAgent*> added;
  std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(added),
               [this](const RemoteAgent* host) { return !receives(host); });
  feed_.expect(static_cast<int>(added.size()));
  for (RemoteAgent* host : added) {
    Receiver& receiver = *receivers_.emplace_back(std::make_unique<Receiver>());
    receiver.host = host;
    receiver.number = ++last_number_;
    POP_ASSIGN_OR_RETURN(receiver.pipe, feed_.open(receiver.number));
    POP_RETURN_IF_ERROR(sys::setNonBlocking(receiver.pipe.get()));
    host->setOnInputReady([this, &receiver] { advance(receiver); });
    host->setOnInputUnread([this, &receiver] { leaveOut(receiver); });
    advance(receiver);
  }
  return {};
}

bool StdinRelay::receives(const RemoteAgent* host) const {
  return std::any_of(receivers_.begin(), receivers_.end(),
                     [host](const std::unique_ptr<Receiver>& each) { return each->host == host; });
}

// An agent accepts no input after the end of input.
void StdinRelay::giveUp(const std::vector<RemoteAgent*>& hosts) {
  for (const std::unique_ptr<Receiver>& receiver : receivers_) end(*receiver);
  receivers_.clear();
  for (RemoteAgent* host : hosts) host->offerInput({});
}

void StdinRelay::finish() {
  // The amount that an earlier attempt left unread is not known any more. For a lost host, everything that it
  // did not report as read counts as unread: rather read twice than never.
  if (receivers_.size() == 1 && !is_second_attempt_) {
    const std::int64_t unread = feed_.bytesRead() - receivers_.front()->host->inputRead();
    if (unread > 0) ::lseek(STDIN_FILENO, -unread, SEEK_CUR);  // pipes and terminals take nothing back
  }
  for (const std::unique_ptr<Receiver>& receiver : receivers_) end(*receiver);
}

// Forwards the available input, as far as the host has room for it. Reads nothing for a lost host.
void StdinRelay::advance(Receiver& receiver) {
  if (receiver.host->lost()) return end(receiver);
  std::array<char, 16 << 10> buffer;
  while (receiver.pipe.valid()) {
    const std::size_t room = std::min(receiver.host->inputRoom(), buffer.size());
    if (room == 0) {
      if (std::exchange(receiver.watching, false)) loop_.unwatch(receiver.pipe.get());
      return;
    }
    const ssize_t got = ::read(receiver.pipe.get(), buffer.data(), room);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      if (!std::exchange(receiver.watching, true))
        loop_.watchReadable(receiver.pipe.get(), [this, &receiver] { advance(receiver); });
      return;
    }
    if (got <= 0) {
      receiver.host->offerInput({});
      return end(receiver);
    }
    receiver.host->offerInput(std::string(buffer.data(), static_cast<std::size_t>(got)));
  }
}

// The feed notices the closed pipe and continues for the other hosts.
void StdinRelay::leaveOut(Receiver& receiver) {
  if (!receiver.pipe.valid()) return;
  receiver.unread = true;
  close(receiver);
}

void StdinRelay::end(Receiver& receiver) {
  receiver.host->setOnInputReady(nullptr);
  receiver.host->setOnInputUnread(nullptr);
  close(receiver);
  feed_.close(receiver.number);
}

void StdinRelay::close(Receiver& receiver) {
  if (std::exchange(receiver.watching, false)) loop_.unwatch(receiver.pipe.get());
  receiver.pipe.reset();
}

}  // namespace pop
