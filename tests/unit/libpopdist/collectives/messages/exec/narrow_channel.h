// SPDX-License-Identifier: Apache-2.0
// Two ranks with a ring of any size for each direction, without processes: one thread takes both sides'
// turns.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "libpopdist/collectives/messages/transport/shm/ring.h"
#include "libpopdist/collectives/messages/transport/transport.h"

namespace popdist::exec {

// One direction between the two ranks.
struct Channel {
  explicit Channel(std::size_t capacity)
      : memory(capacity),
        producer(&header, memory.data(), capacity),
        consumer(&header, memory.data(), capacity) {}

  transport::RingHeader header;
  std::vector<std::byte> memory;
  transport::RingProducer producer;
  transport::RingConsumer consumer;
};

// What one of the two has of them. Between consuming and aligning, the other side may take a turn.
class End final : public transport::Endpoint, public transport::Connection {
 public:
  End(Channel& outgoing, Channel& incoming) : outgoing_(outgoing), incoming_(incoming) {}
  std::function<void()> after_consume;

  Connection& peer(int) override { return *this; }
  std::size_t trySend(std::span<const std::byte> bytes) override {
    return outgoing_.producer.tryWrite(bytes);
  }
  void finishSend() override { outgoing_.producer.align(); }
  std::span<const std::byte> peek() override { return incoming_.consumer.peek(); }
  void consume(std::size_t bytes) override {
    incoming_.consumer.consume(bytes);
    if (after_consume) after_consume();
  }
  void finishReceive() override { incoming_.consumer.align(); }

 private:
  Channel& outgoing_;
  Channel& incoming_;
};

}  // namespace popdist::exec
