// SPDX-License-Identifier: Apache-2.0
#include "popdistd/leader/pass_through.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "common/log/log.h"
#include "popdistd/leader/byte_relay.h"

namespace pop::popdistd {
namespace {

constexpr std::chrono::milliseconds kDialTimeout{3000};
constexpr std::chrono::milliseconds kPause{100};       // without free descriptors
constexpr std::chrono::milliseconds kLastWords{2000};  // for a client to read what the leader said last
constexpr std::chrono::minutes kBetweenWarnings{1};

}  // namespace

class PassThrough::Connection {
 public:
  Connection(PassThrough& owner, os::AcceptedConnection client)
      : owner_(owner), end_{client.address, client.port}, client_(std::move(client.socket)) {
    owner_.shares_.take(end_.address);
    owner_.loop_.watchReadable(client_.get(), [this] { begin(); });
    waitAtMost(owner_.settings_.first_byte_timeout);
  }
  ~Connection() {
    unwatch();
    stopWaiting();
    owner_.shares_.giveBack(end_.address, false);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

 private:
  // Its first byte has come, or it has ended without one.
  void begin() {
    char first = 0;
    const ssize_t count = ::recv(client_.get(), &first, 1, MSG_PEEK);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    stopWaiting();
    owner_.loop_.unwatch(client_.get());
    const std::optional<PassThroughTarget> target = owner_.settings_.target();
    if (count <= 0 || !target) return drop();
    dial_ = dial(target->place, [this, headers = target->headers](os::Dialled dialled) {
      if (!dialled.socket.valid() && owner_.settings_.otherwise) return dialOtherwise();
      connected(std::move(dialled), headers ? headers->next(end_) : std::string());
    });
  }

  std::unique_ptr<os::TcpDial> dial(const os::Place& place, std::function<void(os::Dialled)> done) {
    return std::make_unique<os::TcpDial>(owner_.loop_, place.address, place.port, kDialTimeout,
                                         std::move(done));
  }

  // The first one is still in its call.
  void dialOtherwise() {
    other_dial_ =
        dial(*owner_.settings_.otherwise, [this](os::Dialled dialled) { connected(std::move(dialled), {}); });
  }

  void connected(os::Dialled dialled, std::string header) {
    if (!dialled.socket.valid()) return drop();
    server_ = std::move(dialled.socket);
    const auto broken = [this] { drop(); };
    to_server_ =
        std::make_unique<ByteRelay>(owner_.loop_, client_.get(), server_.get(),
                                    ByteRelay::Events{[this] { clientEnded(); }, broken}, std::move(header));
    to_client_ = std::make_unique<ByteRelay>(owner_.loop_, server_.get(), client_.get(),
                                             ByteRelay::Events{[this] { serverEnded(); }, broken});
  }

  void clientEnded() {
    client_has_ended_ = true;
    if (wait_) drop();
  }

  // A client that stays is not waited for: it may be one that only holds the connection.
  void serverEnded() {
    if (client_has_ended_) return drop();
    waitAtMost(kLastWords);
  }

  void waitAtMost(std::chrono::milliseconds time) {
    wait_ = owner_.loop_.postAfter(time, [this] {
      wait_.reset();
      drop();
    });
  }
  void stopWaiting() {
    if (wait_) owner_.loop_.cancel(*std::exchange(wait_, std::nullopt));
  }

  // The owner destroys it later: one of its own calls is under way.
  void drop() {
    if (std::exchange(is_dropped_, true)) return;
    unwatch();
    owner_.drop(*this);
  }

  void unwatch() {
    owner_.loop_.unwatch(client_.get());
    if (server_.valid()) owner_.loop_.unwatch(server_.get());
  }

  PassThrough& owner_;
  const End end_;
  const sys::Fd client_;
  sys::Fd server_;
  std::unique_ptr<os::TcpDial> dial_;
  std::unique_ptr<os::TcpDial> other_dial_;
  std::unique_ptr<ByteRelay> to_server_;
  std::unique_ptr<ByteRelay> to_client_;
  std::optional<TimerId> wait_;  ///< for the client's first byte, or its end once the server has ended
  bool client_has_ended_ = false;
  bool is_dropped_ = false;
};

Result<std::unique_ptr<PassThrough>> PassThrough::start(os::EpollLoop& loop, PassThroughSettings settings) {
  POP_ASSIGN_OR_RETURN(os::Listener listener, os::listenAt(settings.listen.address, settings.listen.port));
  return std::unique_ptr<PassThrough>(new PassThrough(loop, std::move(listener), std::move(settings)));
}

PassThrough::PassThrough(os::EpollLoop& loop, os::Listener listener, PassThroughSettings settings)
    : loop_(loop), listener_(std::move(listener)), settings_(std::move(settings)), shares_(settings_.limits) {
  watch();
}

PassThrough::~PassThrough() {
  if (pause_) loop_.cancel(*pause_);
  loop_.unwatch(listener_.socket.get());
  if (forget_) loop_.cancel(*forget_);
}

void PassThrough::closeConnections() {
  connections_.clear();
}

void PassThrough::watch() {
  loop_.watchReadable(listener_.socket.get(), [this] { acceptAll(); });
}

void PassThrough::acceptAll() {
  while (true) {
    os::AcceptedConnection accepted = os::acceptConnection(listener_.socket.get());
    if (accepted.error_number != 0) return acceptLater();
    if (!accepted.socket.valid()) return;
    take(std::move(accepted));
  }
}

void PassThrough::acceptLater() {
  loop_.unwatchReadable(listener_.socket.get());
  pause_ = loop_.postAfter(kPause, [this] {
    pause_.reset();
    watch();
  });
}

void PassThrough::take(os::AcceptedConnection client) {
  if (!settings_.target()) return;
  if (const Status room = shares_.room(client.address); !room.ok()) return warnOfCrowd(room);
  auto connection = std::make_unique<Connection>(*this, std::move(client));
  Connection* const raw = connection.get();
  connections_.emplace(raw, std::move(connection));
}

void PassThrough::warnOfCrowd(const Status& why) {
  const Clock::time_point now = loop_.now();
  if (warned_ && now - *warned_ < kBetweenWarnings) return;
  warned_ = now;
  log::warning("a connection is not passed on to the popdistd that leads: " + why.message() +
               " (further ones of this minute are not named)");
}

void PassThrough::drop(Connection& connection) {
  dropped_.push_back(std::move(connections_.extract(&connection).mapped()));
  if (forget_) return;
  forget_ = loop_.postAfter(std::chrono::milliseconds(0), [this] {
    forget_.reset();
    dropped_.clear();
  });
}

}  // namespace pop::popdistd
