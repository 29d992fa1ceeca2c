// SPDX-License-Identifier: Apache-2.0
#include "agent/io/output_pump.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/base/check.h"

namespace pop::agent {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kLongestLineBytes = 64 << 10;

std::size_t bytesIn(int pipe) {
  int bytes = 0;
  return ::ioctl(pipe, FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace

OutputPump::OutputPump(os::AsioLoop& loop, OutputSink& sink, Mode mode, Drained drained)
    : loop_(loop), sink_(sink), mode_(mode), drained_(std::move(drained)) {
  sink_.setOnReady([this] { resume(); });
}

OutputPump::~OutputPump() {
  sink_.setOnReady(nullptr);
  for (const auto& [key, source] : sources_) loop_.unwatch(source.fd.get());
}

void OutputPump::attach(int instance, Stream stream, sys::Fd read_end) {
  POP_CHECK(sys::setNonBlocking(read_end.get()).ok());
  const Key key{instance, stream};
  Source& source = sources_[key];
  source.fd = std::move(read_end);
  if (!paused_) watch(key, source);
}

void OutputPump::watch(const Key& key, const Source& source) {
  loop_.watchReadable(source.fd.get(), [this, key] { pull(key); });
}

void OutputPump::drain(int instance) {
  for (const Stream stream : {Stream::kStdout, Stream::kStderr}) {
    const auto found = sources_.find({instance, stream});
    if (found == sources_.end()) continue;
    found->second.draining = true;
    found->second.to_drain = bytesIn(found->second.fd.get());
    if (!paused_) pull(found->first);
  }
  draining_.insert(instance);  // only now: the first stream's pull must not report for the second
  checkDrained(instance);
}

void OutputPump::finishAll() {
  while (!sources_.empty()) {
    const Key key = sources_.begin()->first;
    pull(key);
    const auto found = sources_.find(key);
    if (found != sources_.end() && bytesIn(found->second.fd.get()) == 0) finish(key, found->second);
  }
}

void OutputPump::pull(Key key) {
  const auto found = sources_.find(key);
  if (found == sources_.end()) return;
  Source& source = found->second;
  std::array<char, kReadBytes> buffer;
  do {
    const ssize_t got = ::read(source.fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      source.to_drain = 0;
      break;
    }
    if (got <= 0) {
      finish(key, source);
      return;
    }
    const auto bytes = static_cast<std::size_t>(got);
    source.to_drain -= std::min(source.to_drain, bytes);
    deliver(key, source, {buffer.data(), bytes});
  } while (!paused_ && source.to_drain > 0);
  if (source.draining) checkDrained(key.first);
}

void OutputPump::deliver(const Key& key, Source& source, std::string_view bytes) {
  if (mode_ == Mode::kRaw) {
    give(key, bytes);
  } else {
    deliverLines(key, source, bytes);
  }
}

void OutputPump::deliverLines(const Key& key, Source& source, std::string_view bytes) {
  const std::size_t last_newline = bytes.rfind('\n');
  if (last_newline == std::string_view::npos) {
    source.line += bytes;
  } else if (source.line.empty()) {
    give(key, bytes.substr(0, last_newline + 1));
    source.line = bytes.substr(last_newline + 1);
  } else {
    source.line += bytes.substr(0, last_newline + 1);
    give(key, source.line);
    source.line = bytes.substr(last_newline + 1);
  }
  if (source.line.size() >= kLongestLineBytes) {
    give(key, source.line);
    source.line.clear();
  }
}

void OutputPump::give(const Key& key, std::string_view text) {
  if (!sink_.write(key.first, key.second, text)) pause();
}

// The pipe's end: nobody can write to it any more.
void OutputPump::finish(const Key& key, Source& source) {
  if (!source.line.empty()) give(key, source.line);
  loop_.unwatch(source.fd.get());
  const int instance = key.first;
  sources_.erase(key);
  checkDrained(instance);
}

void OutputPump::checkDrained(int instance) {
  if (!draining_.contains(instance)) return;
  for (const Stream stream : {Stream::kStdout, Stream::kStderr}) {
    const auto found = sources_.find({instance, stream});
    if (found == sources_.end()) continue;
    if (found->second.to_drain > 0) return;
    // Its writer is dead, so what it began to write will not be continued by it.
    if (found->second.draining && !found->second.line.empty()) {
      give(found->first, found->second.line);
      found->second.line.clear();
    }
  }
  draining_.erase(instance);
  drained_(instance);
}

void OutputPump::pause() {
  if (paused_) return;
  paused_ = true;
  for (const auto& [key, source] : sources_) loop_.unwatchReadable(source.fd.get());
}

void OutputPump::resume() {
  if (!paused_) return;
  paused_ = false;
  for (const auto& [key, source] : sources_) watch(key, source);
}

}  // namespace pop::agent
