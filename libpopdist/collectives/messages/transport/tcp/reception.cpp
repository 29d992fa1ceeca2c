// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/tcp/reception.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace popdist::transport {
namespace {

// A connection that sends nothing for this long is closed. One that has introduced itself, or replays an
// introduction, gets longer: a member may be stopped in between.
constexpr std::chrono::seconds kTimeout{10};
// When all places are taken, the oldest connection gets only this long: a member introduces itself as soon as
// it gets a core.
constexpr std::chrono::seconds kMinTimeout{1};
constexpr std::size_t kMaxPending = 256;

}  // namespace

void Reception::close() {
  listener_.reset();
  pending_.clear();
}

void Reception::receive() {
  if (!listener_.valid()) return;
  if (is_crowded_) makeRoom();
  is_crowded_ = !accept();
  advanceAll();
}

void Reception::advanceAll() {
  const Clock::time_point now = pending_.empty() ? Clock::time_point() : Clock::now();
  for (auto pending = pending_.begin(); pending != pending_.end();) {
    Progress progress = Progress::kMoved;
    while (progress == Progress::kMoved) progress = advance(*pending);
    const bool unauthenticated = !pending->introduced && now - pending->come > kTimeout;
    const bool over = progress == Progress::kOver || unauthenticated;
    pending = over ? pending_.erase(pending) : std::next(pending);
  }
}

bool Reception::expectsProofs() const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [](const PendingConnection& pending) { return pending.introduced.has_value(); });
}

bool Reception::expectsProof(const Introduction& stream) const {
  return std::any_of(pending_.begin(), pending_.end(), [&](const PendingConnection& pending) {
    const auto& introduced = pending.introduced;
    return introduced && introduced->group == stream.group && introduced->from == stream.from &&
           introduced->to == stream.to && introduced->stream == stream.stream;
  });
}

// False: there is no room for all connections.
bool Reception::accept() {
  while (pending_.size() < kMaxPending) {
    pop::Result<pop::sys::Fd> socket = acceptNext(listener_.get());
    trouble_ = socket.status();
    if (!socket.ok()) return false;
    if (!socket->valid()) {
      sleeper_.awaiting(listener_.get(), POLLIN);
      return true;
    }
    pending_.push_back({.socket = std::move(*socket), .come = Clock::now()});
  }
  return false;
}

void Reception::makeRoom() {
  const Clock::time_point now = Clock::now();
  std::erase_if(pending_, [now](const PendingConnection& pending) {
    return now - pending.come > (pending.introduced ? kTimeout : kMinTimeout);
  });
}

Reception::Progress Reception::advance(PendingConnection& pending) {
  return pending.introduced ? readProof(pending) : readIntroduction(pending);
}

Reception::Progress Reception::readIntroduction(PendingConnection& pending) {
  const Progress progress = read(pending, pending.introduction);
  if (progress != Progress::kMoved || pending.bytes < pending.introduction.size()) return progress;
  pending.introduced = parseIntroduction(job_, pending.introduction);
  if (!pending.introduced) return Progress::kOver;
  pending.bytes = 0;
  pending.reply = encodeReply(job_, pending.introduction, randomNonce());
  const ssize_t sent =
      ::send(pending.socket.get(), pending.reply.data(), pending.reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(pending.reply.size()) ? Progress::kMoved : Progress::kOver;
}

Reception::Progress Reception::readProof(PendingConnection& pending) {
  const Progress progress = read(pending, pending.proof);
  if (progress != Progress::kMoved || pending.bytes < pending.proof.size()) return progress;
  if (isProof(job_, pending.introduction, pending.reply, pending.proof)) {
    admit_(*pending.introduced,
           {std::move(pending.socket), connectionKeys(job_, pending.introduction, pending.reply)});
  }
  return Progress::kOver;
}

Reception::Progress Reception::read(PendingConnection& pending, std::span<std::byte> whole) {
  const std::span<std::byte> rest = whole.subspan(pending.bytes);
  const ssize_t received = ::recv(pending.socket.get(), rest.data(), rest.size(), MSG_DONTWAIT);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) {
    sleeper_.awaiting(pending.socket.get(), POLLIN);
    return Progress::kWaits;
  }
  if (received <= 0) return Progress::kOver;
  pending.bytes += static_cast<std::size_t>(received);
  return Progress::kMoved;
}

}  // namespace popdist::transport
