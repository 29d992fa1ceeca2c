// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/transport/tcp/reception.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace popdist::transport {
namespace {

// Whoever says nothing for so long is sent away. Who has introduced itself, as a member or with a record of
// one, has time: a member may be stopped in between.
constexpr std::chrono::seconds kPatience{10};
// Where there is no room, that is for those who come first: a member says who it is as soon as it has a core.
constexpr std::chrono::seconds kLeastPatience{1};
constexpr std::size_t kMostVisitors = 256;

}  // namespace

void Reception::close() {
  listener_.reset();
  visitors_.clear();
}

void Reception::receive() {
  if (!listener_.valid()) return;
  if (is_crowded_) makeRoom();
  is_crowded_ = !accept();
  advanceAll();
}

void Reception::advanceAll() {
  const Clock::time_point now = visitors_.empty() ? Clock::time_point() : Clock::now();
  for (auto visitor = visitors_.begin(); visitor != visitors_.end();) {
    Progress progress = Progress::kMoved;
    while (progress == Progress::kMoved) progress = advance(*visitor);
    const bool stranger = !visitor->introduced && now - visitor->come > kPatience;
    const bool over = progress == Progress::kOver || stranger;
    visitor = over ? visitors_.erase(visitor) : std::next(visitor);
  }
}

bool Reception::expectsProofs() const {
  return std::any_of(visitors_.begin(), visitors_.end(),
                     [](const Visitor& visitor) { return visitor.introduced.has_value(); });
}

bool Reception::expectsProof(const Introduction& stream) const {
  return std::any_of(visitors_.begin(), visitors_.end(), [&](const Visitor& visitor) {
    const auto& introduced = visitor.introduced;
    return introduced && introduced->group == stream.group && introduced->from == stream.from &&
           introduced->to == stream.to && introduced->stream == stream.stream;
  });
}

// False: there is no room for all who have come.
bool Reception::accept() {
  while (visitors_.size() < kMostVisitors) {
    pop::Result<pop::sys::Fd> socket = acceptNext(listener_.get());
    trouble_ = socket.status();
    if (!socket.ok()) return false;
    if (!socket->valid()) {
      sleeper_.awaiting(listener_.get(), POLLIN);
      return true;
    }
    visitors_.push_back({.socket = std::move(*socket), .come = Clock::now()});
  }
  return false;
}

void Reception::makeRoom() {
  const Clock::time_point now = Clock::now();
  std::erase_if(visitors_, [now](const Visitor& visitor) {
    return now - visitor.come > (visitor.introduced ? kPatience : kLeastPatience);
  });
}

Reception::Progress Reception::advance(Visitor& visitor) {
  return visitor.introduced ? readProof(visitor) : readIntroduction(visitor);
}

Reception::Progress Reception::readIntroduction(Visitor& visitor) {
  const Progress progress = read(visitor, visitor.introduction);
  if (progress != Progress::kMoved || visitor.bytes < visitor.introduction.size()) return progress;
  visitor.introduced = parseIntroduction(job_, visitor.introduction);
  if (!visitor.introduced) return Progress::kOver;
  visitor.bytes = 0;
  visitor.reply = encodeReply(job_, visitor.introduction, randomNonce());
  const ssize_t sent =
      ::send(visitor.socket.get(), visitor.reply.data(), visitor.reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(visitor.reply.size()) ? Progress::kMoved : Progress::kOver;
}

Reception::Progress Reception::readProof(Visitor& visitor) {
  const Progress progress = read(visitor, visitor.proof);
  if (progress != Progress::kMoved || visitor.bytes < visitor.proof.size()) return progress;
  if (isProof(job_, visitor.introduction, visitor.reply, visitor.proof)) {
    admit_(*visitor.introduced,
           {std::move(visitor.socket), connectionKeys(job_, visitor.introduction, visitor.reply)});
  }
  return Progress::kOver;
}

Reception::Progress Reception::read(Visitor& visitor, std::span<std::byte> whole) {
  const std::span<std::byte> rest = whole.subspan(visitor.bytes);
  const ssize_t received = ::recv(visitor.socket.get(), rest.data(), rest.size(), MSG_DONTWAIT);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) {
    sleeper_.awaiting(visitor.socket.get(), POLLIN);
    return Progress::kWaits;
  }
  if (received <= 0) return Progress::kOver;
  visitor.bytes += static_cast<std::size_t>(received);
  return Progress::kMoved;
}

}  // namespace popdist::transport
