// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/plugin/plugin_stream.h"

#include <algorithm>
#include <cstring>

#include "libpopdist/collectives/messages/transport/plugin/plugin_status.h"

namespace popdist::transport {

std::size_t PluginStream::trySendBoth(std::span<const std::byte> first, std::span<const std::byte> second) {
  return plugin_.try_send(group_, peer_, first.data(), first.size(), second.data(), second.size());
}

// A plugin may have to work for every answer: it is asked only when its last piece is used up. False: nothing
// has arrived.
bool PluginStream::look() {
  if (!piece_.empty()) return true;
  std::size_t bytes = 0;
  const void* const start = plugin_.try_recv(group_, peer_, &bytes);
  piece_ = {static_cast<const std::byte*>(start), bytes};
  return bytes > 0;
}

void PluginStream::release(std::size_t bytes) {
  plugin_.release(group_, peer_, bytes);
  piece_ = piece_.subspan(bytes);
}

// No element and no head is longer than what can be joined.
void PluginStream::fetch(std::size_t most) {
  const std::size_t needed = std::min(most, joined_.size());
  if (joined_bytes_ >= needed || !look() || (joined_bytes_ == 0 && piece_.size() >= needed)) return;
  while (joined_bytes_ < needed && look()) {
    const std::size_t taken = std::min(piece_.size(), needed - joined_bytes_);
    std::memcpy(joined_.data() + joined_bytes_, piece_.data(), taken);
    joined_bytes_ += taken;
    release(taken);
  }
}

std::span<const std::byte> PluginStream::peek() {
  return joined_bytes_ > 0 ? std::span<const std::byte>(joined_).first(joined_bytes_) : piece_;
}

void PluginStream::consume(std::size_t bytes) {
  if (joined_bytes_ == 0) return release(bytes);
  joined_bytes_ -= bytes;
  std::memmove(joined_.data(), joined_.data() + bytes, joined_bytes_);
}

std::size_t PluginStream::tryReceive(std::span<std::byte> into) {
  std::size_t received = 0;
  while (received < into.size() && (joined_bytes_ > 0 || look()))
    received += Connection::tryReceive(into.subspan(received));
  return received;
}

void PluginStream::abandon(std::span<const std::byte> abort_message) {
  plugin_.close(group_, peer_, abort_message.data(), abort_message.size());
}

pop::Status PluginStream::failure() const {
  return loss().why;
}

std::span<const std::byte> PluginStream::abortMessage() {
  return loss().last;
}

// Asked in every turn of a wait: no more of `why` is touched than the plugin writes.
PluginStream::Loss PluginStream::loss() const {
  PopdistStatus why;
  const void* last = nullptr;
  std::size_t last_bytes = 0;
  if (plugin_.lost(group_, peer_, &why, &last, &last_bytes) == 0) return {};
  return {statusOf(why), {static_cast<const std::byte*>(last), last_bytes}};
}

}  // namespace popdist::transport
