// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/socket_sleeper.h"

#include <utility>

namespace popdist::transport {

pop::Status SocketSleeper::listenTo(Doorbell* doorbell) {
  POP_ASSIGN_OR_RETURN(wake_socket_, WakeSocket::open());
  doorbell_ = doorbell;
  doorbell_->socket_name.store(wake_socket_->name(), std::memory_order_relaxed);
  return {};
}

void SocketSleeper::prepare() {
  preparing_ = true;
  awaited_.clear();
  if (doorbell_ != nullptr) doorbell_->asleep.store(Doorbell::kOnSocket, std::memory_order_seq_cst);
}

void SocketSleeper::waitForRing(std::chrono::milliseconds limit) {
  preparing_ = false;
  if (wake_socket_) awaited_.push_back({wake_socket_->fd(), POLLIN, 0});
  ::poll(awaited_.data(), awaited_.size(), static_cast<int>(limit.count()));
  if (wake_socket_ && awaited_.back().revents != 0) wake_socket_->drain();
  cancel();
}

void SocketSleeper::cancel() {
  preparing_ = false;
  if (doorbell_ == nullptr) return;
  // The data that the wake-up announced may still be on its way: the wake-up then ends one later sleep.
  doorbell_->asleep.store(Doorbell::kAwake, std::memory_order_seq_cst);
}

}  // namespace popdist::transport
