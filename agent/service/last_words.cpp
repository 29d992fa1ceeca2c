// SPDX-License-Identifier: Apache-2.0
#include "agent/service/last_words.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "common/base/text.h"

namespace pop::agent {
namespace {

constexpr std::size_t kMaxBytes = 1000;  // its user decides what it says
constexpr int kMaxLastChunks = 16;       // a pipe holds no more

}  // namespace

LastWords::LastWords(os::EpollLoop& loop, sys::Fd errors) : loop_(loop), errors_(std::move(errors)) {
  loop_.watchReadable(errors_.get(), [this] { read(); });
}

// True if there may be more.
bool LastWords::read() {
  std::array<char, 4096> chunk{};
  const ssize_t got = ::read(errors_.get(), chunk.data(), chunk.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (got <= 0) {
    loop_.unwatch(errors_.get());
    return false;
  }
  words_.append(chunk.data(), static_cast<std::size_t>(got));
  if (words_.size() > kMaxBytes) words_.erase(0, words_.size() - kMaxBytes);
  return true;
}

void LastWords::readAll() {
  for (int chunks = kMaxLastChunks; chunks > 0 && read(); --chunks) continue;
}

void LastWords::forget() {
  readAll();
  words_.clear();
}

std::string LastWords::text() {
  readAll();
  while (words_.ends_with('\n')) words_.pop_back();
  return printable(join(split(words_, '\n'), "; "));
}

std::string describeEnd(JobProcess& process, LastWords& words) {
  const std::string how = process.end();
  const std::string said = words.text();
  return said.empty() ? how : how + " (it said: " + said + ')';
}

}  // namespace pop::agent
