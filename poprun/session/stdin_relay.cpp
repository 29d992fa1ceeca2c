// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/stdin_relay.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace pop {

StdinRelay::~StdinRelay() {
  for (const std::unique_ptr<Receiver>& receiver : receivers_) end(*receiver);
}

Status StdinRelay::begin(const std::vector<RemoteAgent*>& hosts) {
  is_second_attempt_ = !receivers_.empty();
  for (const std::unique_ptr<Receiver>& receiver : receivers_) end(*receiver);
  receivers_.clear();
  feed_.begin({.who = model::StdinPolicy::Who::kAll}, static_cast<int>(hosts.size()));
  for (std::size_t index = 0; index < hosts.size(); ++index) {
    POP_ASSIGN_OR_RETURN(sys::Fd pipe, feed_.open(static_cast<int>(index)));
    POP_RETURN_IF_ERROR(sys::setNonBlocking(pipe.get()));
    Receiver& receiver = *receivers_.emplace_back(std::make_unique<Receiver>());
    receiver.host = hosts[index];
    receiver.pipe = std::move(pipe);
    receiver.host->setOnInputReady([this, &receiver] { advance(receiver); });
    advance(receiver);
  }
  return {};
}

void StdinRelay::finish() {
  // What an attempt has left of its own when the next one began is known no more. Of a host that was lost,
  // what it has not said to be read: rather twice than never.
  if (receivers_.size() == 1 && !is_second_attempt_) {
    const std::int64_t unread = feed_.bytesRead() - receivers_.front()->host->inputRead();
    if (unread > 0) ::lseek(STDIN_FILENO, -unread, SEEK_CUR);  // pipes and terminals take nothing back
  }
  for (const std::unique_ptr<Receiver>& receiver : receivers_) end(*receiver);
}

// What there is, as far as the host has room for it. For one that is lost, nothing is read.
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

void StdinRelay::end(Receiver& receiver) {
  receiver.host->setOnInputReady(nullptr);
  if (std::exchange(receiver.watching, false)) loop_.unwatch(receiver.pipe.get());
  receiver.pipe.reset();
}

}  // namespace pop
