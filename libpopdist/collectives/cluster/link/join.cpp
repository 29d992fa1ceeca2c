// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/link/join.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "common/base/text.h"
#include "common/sys/unix_socket.h"
#include "libpopdist/collectives/cluster/link/own_place.h"
#include "libpopdist/collectives/messages/transport/tcp/handshake.h"

namespace popdist::cluster {
namespace {

using context::LinkError;
using pop::Code;
using pop::Status;
using pop::contract::Frame;
using std::chrono::milliseconds;
using transport::SocketAddress;
using Clock = pop::sys::AwakeClock;

constexpr const char* kStartTag = "start of the cluster";
// Between two calls of an instance 0 that is not there yet.
constexpr int kPause_ms = 50;
// A host that does not answer is tried again: its instance may be on its way.
constexpr milliseconds kConnectTimeout{3000};
constexpr milliseconds kLongestPause{100};

// Waits for `events` (as in poll) until `deadline`. False: the time is up.
bool await(int socket, short events, Clock::time_point deadline) {
  while (true) {
    pollfd awaited{socket, events, 0};
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    const auto sleep = std::clamp(left, milliseconds(0), kLongestPause);
    if (::poll(&awaited, 1, static_cast<int>(sleep.count())) > 0) return true;
    if (left.count() <= 0) return false;
  }
}

// A call to a port that the kernel also gives to callers can reach itself.
bool isConnectedToItself(int socket) {
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t own_bytes = sizeof(own);
  socklen_t peer_bytes = sizeof(peer);
  return ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_bytes) == 0 &&
         ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_bytes) == 0 &&
         own_bytes == peer_bytes &&
         std::equal(reinterpret_cast<const std::byte*>(&own),
                    reinterpret_cast<const std::byte*>(&own) + own_bytes,
                    reinterpret_cast<const std::byte*>(&peer));
}

pop::Result<pop::sys::Fd> connectTo(const SocketAddress& own, const SocketAddress& peer,
                                    Clock::time_point deadline) {
  POP_ASSIGN_OR_RETURN(pop::sys::Fd socket, transport::beginConnecting(own, peer));
  if (!await(socket.get(), POLLOUT, std::min(deadline, Clock::now() + kConnectTimeout)))
    return pop::unavailable("its host does not answer");
  int error_number = 0;
  socklen_t bytes = sizeof(error_number);
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error_number, &bytes);
  if (error_number == ECONNREFUSED || isConnectedToItself(socket.get()))
    return pop::unavailable("no server listens there");
  if (error_number != 0) return pop::unavailable(pop::errnoStatus("connecting", error_number).message());
  watchForSilence(socket.get());
  return socket;
}

// The first frame that comes; nothing: the other end has closed the connection.
pop::Result<std::optional<Frame>> firstFrame(Joined& joined, Clock::time_point deadline) {
  while (true) {
    pop::Result<std::optional<Frame>> frame = joined.reader.next();
    if (!frame.ok() || frame->has_value()) return frame;
    if (!await(joined.socket.get(), POLLIN, deadline))
      return Status(Code::kDeadlineExceeded, "it takes the call and does not answer");
    POP_ASSIGN_OR_RETURN(const pop::sys::Received received, pop::sys::receiveSome(joined.socket.get()));
    if (!received.would_block && received.bytes.empty()) return std::optional<Frame>();
    joined.reader.append(received.bytes);
  }
}

LinkError refusalIn(const Frame& frame) {
  pop::Result<int> code = pop::contract::numberField(frame, 1);
  pop::Result<std::int64_t> culprit =
      frame.fields.size() == 4 ? pop::parseInteger(frame.fields[2]) : pop::invalidArgument("");
  if (!code.ok() || !culprit.ok() || *code < 1 || *code > static_cast<int>(Code::kDataLoss))
    return {{Code::kDataLoss, "malformed refusal from instance 0"}, 0};
  return {{static_cast<Code>(*code), frame.fields[3]}, *culprit < 0 ? -1 : static_cast<int>(*culprit)};
}

// Says hello. kUnavailable: worth another try.
LinkError introduce(const Roster& roster, int instance, Joined& joined, Clock::time_point deadline) {
  pop::Result<std::string> hello = pop::contract::encode(helloOf(roster, instance));
  if (!hello.ok()) return {hello.status()};
  if (!pop::sys::sendAllUntil(joined.socket.get(), *hello, deadline).ok())
    return {pop::unavailable("it does not take the call"), 0};
  pop::Result<std::optional<Frame>> answer = firstFrame(joined, deadline);
  if (answer.ok() && !answer->has_value()) return {pop::unavailable("it closes the connection"), 0};
  if (answer.code() == Code::kDeadlineExceeded) return {answer.status(), 0};
  const Frame frame = answer.ok() ? **answer : Frame();
  if (static_cast<Message>(frame.type) == Message::kError) return refusalIn(frame);
  if (static_cast<Message>(frame.type) != Message::kWelcome || frame.fields.size() != 2 ||
      frame.fields[0] != kGreeting || frame.fields[1].size() != sizeof(transport::Key)) {
    return {pop::failedPrecondition("the server at " + roster.workers[0] +
                                    " is no instance of a cluster: another program has the port of " +
                                    roster.nameOf(0)),
            0};
  }
  joined.key = frame.fields[1];
  return {};
}

// One try with each address of instance 0.
LinkError callOnce(const Roster& roster, int instance, Joined& joined, Clock::time_point deadline) {
  pop::Result<Endpoint> endpoint = parseEndpoint(roster.workers[0]);
  if (!endpoint.ok()) return {endpoint.status()};
  pop::Result<std::vector<SocketAddress>> addresses = addressesOf(*endpoint);
  if (!addresses.ok()) return {pop::unavailable(addresses.status().message()), 0};
  pop::Result<SocketAddress> own = SocketAddress::parse(joined.own_address, 0);
  if (!own.ok()) return {own.status()};
  LinkError error;
  for (const SocketAddress& address : *addresses) {
    pop::Result<pop::sys::Fd> socket = connectTo(*own, address, deadline);
    error = {socket.status(), 0};
    if (!socket.ok()) continue;
    joined.socket = std::move(*socket);
    joined.reader = pop::contract::FrameReader(kMostHelloBytes);
    error = introduce(roster, instance, joined, deadline);
    if (error.ok() || error.status.code() != Code::kUnavailable) break;
  }
  return error;
}

LinkError call(const Roster& roster, int instance, Joined& joined, Clock::time_point deadline) {
  while (true) {
    LinkError error = callOnce(roster, instance, joined, deadline);
    const bool may_come =
        error.status.code() == Code::kUnavailable || error.status.code() == Code::kDeadlineExceeded;
    if (error.ok() || !may_come) return error;
    if (Clock::now() >= deadline) {
      return {
          {Code::kDeadlineExceeded, roster.nameOf(0) + " has not come in time: " + error.status.message()},
          0};
    }
    ::poll(nullptr, 0, kPause_ms);
  }
}

// Instance 0: its own call goes through a socket pair.
LinkError serve(const Roster& roster, pop::sys::Fd listener, Joined& joined, Clock::time_point deadline) {
  pop::Result<std::pair<pop::sys::Fd, pop::sys::Fd>> pair = pop::sys::socketPair();
  if (!pair.ok()) return {pair.status()};
  const transport::Nonce nonce = transport::randomNonce();
  std::string key(reinterpret_cast<const char*>(nonce.data()), nonce.size());
  pop::Result<std::unique_ptr<Server>> server =
      Server::start(roster, std::move(key), std::move(listener), std::move(pair->first));
  if (!server.ok()) return {server.status()};
  joined.server = std::move(*server);
  joined.socket = std::move(pair->second);
  return introduce(roster, 0, joined, deadline);
}

}  // namespace

LinkError join(const Roster& roster, int instance, milliseconds timeout, std::unique_ptr<ClusterLink>& link) {
  const Clock::time_point deadline = Clock::now() + timeout;
  pop::Result<OwnPlace> place = takeOwnPlace(roster, instance);
  if (!place.ok()) return {place.status()};
  Joined joined;
  joined.own_address = place->address;
  LinkError error;
  if (instance == 0) {
    error = serve(roster, std::move(place->socket), joined, deadline);
  } else {
    joined.own_place = std::move(place->socket);
    error = call(roster, instance, joined, deadline);
  }
  if (!error.ok()) return error;
  pop::Result<std::unique_ptr<ClusterLink>> started = ClusterLink::start(roster, instance, std::move(joined));
  if (!started.ok()) return {started.status()};
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  error = (*started)->fence(kStartTag, std::max(left, milliseconds(1)), {});
  if (!error.ok()) return error;
  (*started)->setBegun();
  link = std::move(*started);
  return {};
}

}  // namespace popdist::cluster
