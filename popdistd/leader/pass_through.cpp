// SPDX-License-Identifier: Apache-2.0
#include "popdistd/leader/pass_through.h"

#include <chrono>
#include <utility>

#include "common/log/log.h"
#include "popdistd/leader/byte_relay.h"

namespace pop::popdistd {
namespace {

constexpr std::size_t kMostConnections = 1024;
constexpr std::chrono::milliseconds kDialTimeout{3000};
constexpr std::chrono::milliseconds kPause{100};       // where there are no descriptors
constexpr std::chrono::milliseconds kLastWords{2000};  // for a client to read what the leader said last
constexpr std::chrono::minutes kBetweenWarnings{1};

}  // namespace

class PassThrough::Connection {
 public:
  Connection(PassThrough& owner, sys::Fd client, const os::Place& target)
      : owner_(owner), client_(std::move(client)), dial_(dial(target, [this](os::Dialled dialled) {
          dialled.socket.valid() || !owner_.otherwise_ ? connected(std::move(dialled)) : dialOtherwise();
        })) {}
  ~Connection() {
    unwatch();
    if (end_) owner_.loop_.cancel(*end_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

 private:
  std::unique_ptr<os::TcpDial> dial(const os::Place& place, std::function<void(os::Dialled)> done) {
    return std::make_unique<os::TcpDial>(owner_.loop_, place.address, place.port, kDialTimeout,
                                         std::move(done));
  }

  // The first one is still in its call.
  void dialOtherwise() {
    other_dial_ = dial(*owner_.otherwise_, [this](os::Dialled dialled) { connected(std::move(dialled)); });
  }

  void connected(os::Dialled dialled) {
    if (!dialled.socket.valid()) return drop();
    server_ = std::move(dialled.socket);
    const auto broken = [this] { drop(); };
    to_server_ = std::make_unique<ByteRelay>(owner_.loop_, client_.get(), server_.get(),
                                             ByteRelay::Events{[this] { clientEnded(); }, broken});
    to_client_ = std::make_unique<ByteRelay>(owner_.loop_, server_.get(), client_.get(),
                                             ByteRelay::Events{[this] { serverEnded(); }, broken});
  }

  void clientEnded() {
    client_has_ended_ = true;
    if (end_) drop();
  }

  // A client that stays is not waited for: it may be one that only holds the connection.
  void serverEnded() {
    if (client_has_ended_) return drop();
    end_ = owner_.loop_.postAfter(kLastWords, [this] {
      end_.reset();
      drop();
    });
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
  const sys::Fd client_;
  sys::Fd server_;
  std::unique_ptr<os::TcpDial> dial_;
  std::unique_ptr<os::TcpDial> other_dial_;
  std::unique_ptr<ByteRelay> to_server_;
  std::unique_ptr<ByteRelay> to_client_;
  std::optional<TimerId> end_;  ///< the server has ended
  bool client_has_ended_ = false;
  bool is_dropped_ = false;
};

Result<std::unique_ptr<PassThrough>> PassThrough::start(os::EpollLoop& loop, const os::Place& listen,
                                                        Target target, std::optional<os::Place> otherwise) {
  POP_ASSIGN_OR_RETURN(os::Listener listener, os::listenAt(listen.address, listen.port));
  return std::unique_ptr<PassThrough>(
      new PassThrough(loop, std::move(listener), std::move(target), std::move(otherwise)));
}

PassThrough::PassThrough(os::EpollLoop& loop, os::Listener listener, Target target,
                         std::optional<os::Place> otherwise)
    : loop_(loop),
      listener_(std::move(listener)),
      target_(std::move(target)),
      otherwise_(std::move(otherwise)) {
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
    take(std::move(accepted.socket));
  }
}

void PassThrough::acceptLater() {
  loop_.unwatchReadable(listener_.socket.get());
  pause_ = loop_.postAfter(kPause, [this] {
    pause_.reset();
    watch();
  });
}

void PassThrough::take(sys::Fd client) {
  const std::optional<os::Place> target = target_();
  if (!target) return;
  if (connections_.size() >= kMostConnections) return warnOfCrowd();
  auto connection = std::make_unique<Connection>(*this, std::move(client), *target);
  Connection* const raw = connection.get();
  connections_.emplace(raw, std::move(connection));
}

void PassThrough::warnOfCrowd() {
  const Clock::time_point now = loop_.now();
  if (warned_ && now - *warned_ < kBetweenWarnings) return;
  warned_ = now;
  log::warning("passes " + std::to_string(kMostConnections) +
               " connections on to the popdistd that leads, and closes further ones");
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
