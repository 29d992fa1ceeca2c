// SPDX-License-Identifier: Apache-2.0
#include "agent/io/output_pump.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/check.h"

namespace pop::agent {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kLongestLineBytes = 64 << 10;
constexpr std::size_t kKeptLineBytes = 4 << 10;  // there are many sources

// Returns where the last line of `text` ends, or the last state of a line: a carriage return rewrites the
// line, unless a newline follows it, which is not known yet when it is the last character.
std::size_t endOfLastLine(std::string_view text) {
  const std::size_t newline = text.rfind('\n');
  const std::size_t lines = newline == std::string_view::npos ? 0 : newline + 1;
  const std::string_view rest = text.substr(lines);
  if (rest.size() < 2) return lines;
  const std::size_t anew = rest.substr(0, rest.size() - 1).rfind('\r');
  return anew == std::string_view::npos ? lines : lines + anew + 1;
}

std::size_t bytesIn(int pipe) {
  int bytes = 0;
  return ::ioctl(pipe, FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace

OutputPump::OutputPump(os::EpollLoop& loop, OutputSink& sink, Modes modes, Drained drained)
    : loop_(loop),
      sink_(sink),
      modes_(modes),
      drained_(std::move(drained)),
      buffer_(new char[kLongestLineBytes + kReadBytes]) {
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
  do {
    const ssize_t got = ::read(source.fd.get(), buffer_.get() + kLongestLineBytes, kReadBytes);
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
    deliver(key, source, bytes);
  } while (!paused_ && source.to_drain > 0);
  if (source.draining) checkDrained(key.first);
}

// New bytes are read into the buffer after room for the unfinished line, so that a piece is contiguous.
void OutputPump::deliver(const Key& key, Source& source, std::size_t bytes) {
  char* const begin = buffer_.get() + kLongestLineBytes;
  const std::string_view read(begin, bytes);
  if ((key.second == Stream::kStdout ? modes_.out : modes_.err) == Mode::kRaw) return give(key, read);

  std::string& line = source.line;
  std::size_t end = endOfLastLine(read);
  // A carriage return at the end of the previous read was held back until the next character is known.
  const bool anew = end == 0 && line.ends_with('\r');
  if (end > 0 || anew) {
    line.copy(begin - line.size(), line.size());
    give(key, {begin - line.size(), line.size() + end});
    line.clear();
  }
  line += read.substr(end);
  if (line.size() >= kLongestLineBytes) {
    give(key, line);
    line.clear();
  }
  if (line.capacity() > kKeptLineBytes && line.size() <= kKeptLineBytes) line.shrink_to_fit();
}

void OutputPump::give(const Key& key, std::string_view text) {
  if (!sink_.write(key.first, key.second, text)) pause();
}

// End of the pipe: no process has it open for writing any more.
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
    // The writer is dead, so its unfinished line will not be completed.
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
