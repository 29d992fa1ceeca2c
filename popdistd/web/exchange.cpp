// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/exchange.h"

#include <optional>

namespace pop::popdistd {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;

}  // namespace

void Exchange::post(std::function<void()> task) {
  to_loop_->loop.post([self = shared_from_this(), task = std::move(task)] { task(); });
}

void Exchange::begin() {
  post([this] {
    if (connection_ && !to_loop_->closed) to_loop_->handler(shared_from_this());
  });
}

void Exchange::pull() {
  post([this] {
    pulls_ = true;
    feed();
  });
}

void Exchange::close() {
  post([this] { over(); });
}

void Exchange::answer(HttpAnswer answer) {
  if (!connection_ || std::exchange(answered_, true)) return;
  ++to_loop_->meters.answers[answer.status];
  connection_->answer(std::move(answer));
  over();
}

void Exchange::stream(std::string content_type, std::unique_ptr<ByteSource> source, std::string keep_alive) {
  if (!connection_ || std::exchange(answered_, true)) return;
  ++to_loop_->meters.answers[200];
  ++to_loop_->meters.streams;
  source_ = std::move(source);
  connection_->beginStream(std::move(content_type), std::move(keep_alive));
}

// Never asks the source at once, since it may be in the middle of something.
std::function<void()> Exchange::ready() {
  return [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !self->connection_ || std::exchange(self->will_feed_, true)) return;
    self->post([raw = self.get()] {
      raw->will_feed_ = false;
      raw->feed();
    });
  };
}

void Exchange::keep(std::shared_ptr<void> work) {
  if (connection_ && !answered_) work_ = std::move(work);
}

void Exchange::feed() {
  if (!pulls_ || !source_ || !connection_) return;
  std::string bytes;
  while (bytes.size() < kChunkBytes) {
    const std::optional<std::string> more = source_->next();
    if (!more) break;
    bytes += *more;
  }
  if (!bytes.empty()) {
    pulls_ = false;
    return connection_->chunk(std::move(bytes));
  }
  const std::optional<Status> end = source_->ended();
  if (!end) return;
  connection_->endStream(*end);
  over();
}

// The members that are destroyed may be the last to keep this object.
void Exchange::over() {
  const auto self = shared_from_this();
  if (source_) --to_loop_->meters.streams;
  connection_.reset();
  source_.reset();
  work_.reset();
}

}  // namespace pop::popdistd
