// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/link/server.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "common/base/text.h"
#include "common/sys/blocked_signals.h"
#include "libpopdist/collectives/messages/transport/tcp/socket_address.h"

namespace popdist::cluster {

using pop::Code;
using pop::Status;
using pop::contract::Frame;
using std::chrono::milliseconds;

namespace {

// An instance says hello as soon as it is connected.
constexpr std::chrono::seconds kHelloTimeout{10};
constexpr std::size_t kMostUnidentified = 256;
constexpr milliseconds kGoodbyeTimeout{1000};
// The clock must be read while a deadline runs (AwakeClock).
constexpr milliseconds kLongestPoll{200};
// A message about values that is no larger than any put may be.
constexpr std::size_t kValuesBytes = 1 << 20;

}  // namespace

Server::Server(const Roster& roster, std::string key, pop::sys::Fd listener, pop::sys::Pipe wake)
    : roster_(roster),
      key_(std::move(key)),
      listener_(std::move(listener)),
      wake_(std::move(wake)),
      ended_(roster.workers.size(), false),
      fences_(roster.names()) {}

pop::Result<std::unique_ptr<Server>> Server::start(const Roster& roster, std::string key,
                                                   pop::sys::Fd listener, pop::sys::Fd own) try {
  POP_ASSIGN_OR_RETURN(pop::sys::Pipe wake, pop::sys::makePipe());
  std::unique_ptr<Server> server(new Server(roster, std::move(key), std::move(listener), std::move(wake)));
  server->peers_.push_back({.socket = PeerSocket(std::move(own)), .come = Clock::now()});
  const pop::sys::BlockedSignals blocked;  // in the thread: signals are the program's business
  server->thread_ = std::thread([raw = server.get()] { raw->loop(); });
  return server;
} catch (const std::system_error&) {
  return Status(Code::kResourceExhausted, "no thread can be started for the cluster's server (ulimit -u)");
}

Server::~Server() {
  if (!thread_.joinable()) return;
  if (fork_ != pop::sys::forksOfThisProcess()) {
    thread_.detach();  // a forked child has no such thread
    return;
  }
  leaving_ = true;
  static_cast<void>(pop::sys::writeAll(wake_.write_end.get(), "!"));
  thread_.join();
}

void Server::loop() {
  while (!leaving_) {
    if (!wait()) continue;
    accept();
    for (Peer& peer : peers_) {
      if (!peer.is_over) read(peer);
      if (!peer.socket.flush()) lose(peer);
    }
    checkDeadlines();
    std::erase_if(peers_, [](const Peer& peer) { return peer.is_over && !peer.socket.hasUnsent(); });
  }
  leave();
}

// False: interrupted.
bool Server::wait() {
  std::vector<pollfd> awaited{{wake_.read_end.get(), POLLIN, 0}};
  const auto unidentified =
      std::count_if(peers_.begin(), peers_.end(), [](const Peer& p) { return p.instance < 0; });
  if (static_cast<std::size_t>(unidentified) < kMostUnidentified)
    awaited.push_back({listener_.get(), POLLIN, 0});
  bool has_deadline = unidentified > 0;
  for (const Peer& peer : peers_) {
    has_deadline |= peer.fence.has_value() || peer.is_over;
    const int events = (peer.is_over ? 0 : POLLIN) | (peer.socket.hasUnsent() ? POLLOUT : 0);
    awaited.push_back({peer.socket.fd(), static_cast<short>(events), 0});
  }
  return ::poll(awaited.data(), awaited.size(), has_deadline ? static_cast<int>(kLongestPoll.count()) : -1) >=
         0;
}

void Server::accept() {
  while (peers_.size() < roster_.workers.size() + kMostUnidentified) {
    pop::Result<pop::sys::Fd> socket = transport::acceptNext(listener_.get());
    if (!socket.ok() || !socket->valid()) return;
    static_cast<void>(transport::tune(socket->get()));
    watchForSilence(socket->get());
    peers_.push_back({.socket = PeerSocket(std::move(*socket)), .come = Clock::now()});
  }
}

void Server::read(Peer& peer) {
  const bool is_there = peer.socket.receive();
  while (!peer.is_over) {
    pop::Result<std::optional<Frame>> frame = peer.socket.next();
    if (!frame.ok()) return lose(peer);
    if (!frame->has_value()) break;
    handle(peer, std::move(**frame));
  }
  if (!is_there && !peer.is_over) lose(peer);
}

void Server::handle(Peer& peer, Frame frame) {
  if (peer.instance < 0) return greet(peer, frame);
  const auto type = static_cast<Message>(frame.type);
  if (type == Message::kPut && frame.fields.size() == 2) {
    fences_.put(std::move(frame.fields[0]), std::move(frame.fields[1]));
  } else if (type == Message::kFence && frame.fields.size() == 3) {
    enterFence(peer, std::move(frame));
  } else if (type == Message::kAbort && frame.fields.size() == 2) {
    abort(peer, frame);
  } else if (type == Message::kBye && frame.fields.size() == 1) {
    const bool clean = frame.fields[0] == "1";
    peer.is_over = true;
    end(peer.instance, clean,
        who(peer) + (clean ? " has ended" : " has ended by an exception, or with an exit code other than 0"));
  } else {
    lose(peer);
  }
}

void Server::greet(Peer& peer, const Frame& hello) {
  pop::Result<Member> member = memberOf(roster_, hello);
  if (!member.ok()) return refuse(peer, member.status(), -1);
  const std::string name = roster_.nameOf(member->instance);
  if (const Peer* const other = peerOf(member->instance); other != nullptr) {
    return refuse(peer,
                  {Code::kAlreadyExists, name + " is there already, as " + other->process + ": " +
                                             member->process + " has the same index"},
                  member->instance);
  }
  if (ended_[static_cast<std::size_t>(member->instance)])
    return refuse(peer, pop::failedPrecondition(name + " has ended before: start all instances again"),
                  member->instance);
  peer.instance = member->instance;
  peer.process = member->process;
  peer.socket.trust();
  if (!peer.socket.send(Message::kWelcome, {kGreeting, key_})) lose(peer);
}

void Server::enterFence(Peer& peer, Frame frame) {
  pop::Result<int> timeout_ms = pop::contract::numberField(frame, 1);
  if (!timeout_ms.ok()) return lose(peer);
  peer.fence = Clock::now() + milliseconds(*timeout_ms);
  answer(fences_.enter(peer.instance, std::move(frame.fields[0]), std::move(frame.fields[2])));
}

// Instance 0 last: it ends when it hears it, and this server with it.
void Server::abort(const Peer& peer, const Frame& frame) {
  const std::string text = who(peer) + " has ended the job: " + pop::printable(frame.fields[1]);
  const auto tell = [&](Peer& each) {
    static_cast<void>(each.socket.send(Message::kAborted, {frame.fields[0], text}));
  };
  for (Peer& each : peers_) {
    if (each.instance > 0 && !each.is_over) tell(each);
  }
  if (Peer* const own = peerOf(0); own != nullptr) tell(*own);
}

void Server::checkDeadlines() {
  const Clock::time_point now = Clock::now();
  for (Peer& peer : peers_) {
    if (peer.instance < 0 && !peer.is_over && now - peer.come > kHelloTimeout) peer.is_over = true;
    if (!peer.fence || now < *peer.fence) continue;
    peer.fence.reset();
    answer(fences_.timeIsUp(peer.instance,
                            last_refusal_.empty() ? "" : "; one was turned away: " + last_refusal_));
  }
}

void Server::answer(const std::vector<Answer>& answers) {
  sendReleased();
  for (const Answer& each : answers) {
    Peer* const peer = peerOf(each.instance);
    if (peer == nullptr) continue;
    peer->fence.reset();
    const auto& [status, culprit] = each.error;
    // One that cannot be reached is found when its connection is read.
    static_cast<void>(
        status.ok()
            ? peer->socket.send(Message::kReleased, {each.call})
            : peer->socket.send(Message::kError, {each.call, std::to_string(static_cast<int>(status.code())),
                                                  std::to_string(culprit), status.message()}));
  }
}

void Server::sendReleased() {
  std::vector<std::string> fields;
  std::size_t bytes = 0;
  const auto sendAll = [&] {
    for (Peer& peer : peers_) {
      if (peer.instance >= 0 && !peer.is_over && !fields.empty())
        static_cast<void>(peer.socket.send(Message::kValues, fields));
    }
    fields.clear();
    bytes = 0;
  };
  for (auto& [key, value] : fences_.takeReleased()) {
    const std::size_t more = key.size() + value.size();
    if (bytes + more > kValuesBytes) sendAll();
    bytes += more;
    fields.push_back(std::move(key));
    fields.push_back(std::move(value));
  }
  sendAll();
}

void Server::refuse(Peer& peer, const Status& why, int instance) {
  last_refusal_ = why.message();
  static_cast<void>(peer.socket.send(Message::kError, {"0", std::to_string(static_cast<int>(why.code())),
                                                       std::to_string(instance), why.message()}));
  peer.is_over = true;
}

void Server::lose(Peer& peer) {
  peer.is_over = true;
  if (peer.instance >= 0)
    end(peer.instance, false,
        who(peer) +
            " is gone: it has exited without destroying its Context (std::exit), has crashed, or was killed");
}

void Server::end(int instance, bool clean, const std::string& text) {
  if (ended_[static_cast<std::size_t>(instance)]) return;
  ended_[static_cast<std::size_t>(instance)] = true;
  for (Peer& peer : peers_) {
    if (peer.instance >= 0 && !peer.is_over)
      static_cast<void>(
          peer.socket.send(Message::kEnded, {std::to_string(instance), clean ? "1" : "0", text}));
  }
  answer(fences_.ended(instance, text));
}

// Instance 0 has ended. Values and questions that others have sent meanwhile have come too late.
void Server::leave() {
  for (Peer& peer : peers_) {
    if (peer.instance == 0) peer.is_over = true;
  }
  end(0, clean_,
      "instance 0 has ended" +
          std::string(clean_ ? ""
                             : " by an exception or with an exit code other than 0, or could not begin"));
  const auto until = std::chrono::steady_clock::now() + kGoodbyeTimeout;
  while (std::chrono::steady_clock::now() < until) {
    std::vector<pollfd> awaited;
    for (Peer& peer : peers_) {
      if (peer.socket.flush() && peer.socket.hasUnsent()) awaited.push_back({peer.socket.fd(), POLLOUT, 0});
    }
    if (awaited.empty()) return;
    ::poll(awaited.data(), awaited.size(), static_cast<int>(kLongestPoll.count()));
  }
}

Server::Peer* Server::peerOf(int instance) {
  const auto found = std::find_if(peers_.begin(), peers_.end(), [instance](const Peer& peer) {
    return peer.instance == instance && !peer.is_over;
  });
  return found == peers_.end() ? nullptr : &*found;
}

// Short: an end notice has room for 119 bytes.
std::string Server::who(const Peer& peer) const {
  return "instance " + std::to_string(peer.instance) + " (" +
         roster_.tasks[static_cast<std::size_t>(peer.instance)] + ", " + peer.process + ')';
}

}  // namespace popdist::cluster
