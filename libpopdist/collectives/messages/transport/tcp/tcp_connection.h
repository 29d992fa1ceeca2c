// SPDX-License-Identifier: Apache-2.0
// One rank's connection to a peer over TCP: one stream or several, made when they are first needed.
//
// With several streams a message is cut into chunks of kChunkBytes, its head included; chunk c travels on
// stream c mod streams. Both sides know the lengths, so nothing else is on a stream. The lower of two ranks
// dials.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libpopdist/collectives/messages/transport/tcp/reception.h"
#include "libpopdist/collectives/messages/transport/tcp/tcp_stream.h"

namespace popdist::transport {

struct TcpSetup {
  std::string own_address;         ///< numeric, of this host, at which the others reach it
  Key job{};                       ///< key with which members prove that they belong to the job
  std::uint32_t group = 0;         ///< among the job's groups
  int streams = 1;                 ///< between two ranks
  std::string congestion_control;  ///< see listenOn()
};

class TcpConnection final : public Connection {
 public:
  /// State that the connections of a group share. Outlives them.
  struct Common {
    TcpSetup setup;
    SocketAddress own;  ///< we dial from it, with any port
    Reception* reception = nullptr;
    SocketSleeper* sleeper = nullptr;
  };

  TcpConnection(const Common& common, int rank, int peer, const SocketAddress& address);

  bool isUp() override { return rank_ > peer_ ? bringUp(streams_.front()) : streams_.front().socket.valid(); }
  bool seal(Head head) override;
  std::size_t trySend(std::span<const std::byte> bytes) override { return trySendBoth(bytes, {}); }
  std::size_t trySendBoth(std::span<const std::byte> first, std::span<const std::byte> second) override;
  void finishSend() override { sent_ = 0; }
  void fetch(std::size_t most) override;
  std::span<const std::byte> peek() override;
  void consume(std::size_t bytes) override;
  std::size_t tryReceive(std::span<std::byte> into) override;
  bool isGenuine(ConstHead head) override { return incoming_.isGenuine(head); }
  void finishReceive() override { received_ = 0; }
  bool tryTell(Head head, bool dials) override;
  void abandon(std::span<const std::byte> abort_message) override;
  /// Does what this side can do to bring the connection up. False: nothing is left to do.
  bool call() { return rank_ < peer_ && failure_.ok() && !bringUp(streams_.front()); }
  /// The peer has not dialled yet, which is for it to do.
  bool awaitsDialler() const { return rank_ > peer_ && failure_.ok() && !streams_.front().socket.valid(); }
  pop::Status failure() const override;
  bool mayStillDeliver() override;

  /// Takes over an accepted stream. False: the connection has that one already.
  bool adopt(std::uint32_t stream, AcceptedStream accepted);

 private:
  std::size_t indexAt(std::size_t position) const { return position / kChunkBytes % streams_.size(); }
  TcpStream& streamAt(std::size_t position) { return streams_[indexAt(position)]; }
  const TcpStream& streamAt(std::size_t position) const { return streams_[indexAt(position)]; }
  std::uint32_t indexOf(const TcpStream& stream) const {
    return static_cast<std::uint32_t>(&stream - streams_.data());
  }
  std::size_t mostAt(std::size_t position) const;
  bool bringUp(TcpStream& stream);
  void useKeys(const TcpStream& stream);
  bool settle(TcpStream& stream, ssize_t moved, short awaited_event);

  const Common& common_;
  const int rank_;
  const int peer_;
  const SocketAddress address_;
  std::vector<TcpStream> streams_;
  std::size_t sent_ = 0;      ///< sent of the message under way, head included
  std::size_t received_ = 0;  ///< likewise
  bool head_waits_ = false;   ///< one is sealed, and nothing of it is sent: no other can go before it
  HeadSeal outgoing_;
  HeadSeal incoming_;
  pop::Status failure_;
};

}  // namespace popdist::transport
