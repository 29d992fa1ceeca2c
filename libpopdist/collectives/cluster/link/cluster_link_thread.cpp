// SPDX-License-Identifier: Apache-2.0
// The thread of a link: what the server says.
#include <poll.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "common/base/text.h"
#include "common/contract/segment.h"
#include "common/sys/unix_socket.h"
#include "libpopdist/collectives/cluster/link/cluster_link.h"

namespace popdist::cluster {

using context::LinkError;
using pop::Code;
using pop::contract::Frame;

void ClusterLink::receiveAll() {
  while (true) {
    pop::Result<std::optional<Frame>> frame = reader_.next();
    if (!frame.ok()) break;
    if (frame->has_value()) {
      if (!handle(std::move(**frame))) break;
      continue;
    }
    pollfd readable{socket_.get(), POLLIN, 0};
    ::poll(&readable, 1, -1);
    pop::Result<pop::sys::Received> received = pop::sys::receiveSome(socket_.get());
    if (!received.ok() || (!received->would_block && received->bytes.empty())) break;
    reader_.append(received->bytes);
  }
  serverIsGone();
}

// False: that is no message of the server's.
bool ClusterLink::handle(Frame frame) {
  switch (static_cast<Message>(frame.type)) {
    case Message::kValues: {
      if (frame.fields.size() % 2 != 0) return false;
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < frame.fields.size(); i += 2)
        values_.insert_or_assign(std::move(frame.fields[i]), std::move(frame.fields[i + 1]));
      return true;
    }
    case Message::kReleased: {
      if (frame.fields.size() != 1) return false;
      const std::lock_guard lock(mutex_);
      if (frame.fields[0] == std::to_string(calls_)) answer_ = LinkError();
      changed_.notify_all();
      return true;
    }
    case Message::kError:
      return failed(frame);
    case Message::kEnded:
      return ended(frame);
    case Message::kAborted:
      return aborted(frame);
    default:
      return false;
  }
}

bool ClusterLink::failed(const Frame& frame) {
  if (frame.fields.size() != 4) return false;
  pop::Result<int> code = pop::contract::numberField(frame, 1);
  pop::Result<std::int64_t> culprit = pop::parseInteger(frame.fields[2]);
  const bool known = code.ok() && *code > 0 && *code <= static_cast<int>(Code::kDataLoss);
  const bool is_instance = culprit.ok() && *culprit >= 0 && *culprit < roster_.size();
  const std::lock_guard lock(mutex_);
  if (frame.fields[0] == std::to_string(calls_)) {
    answer_ = LinkError{{known ? static_cast<Code>(*code) : Code::kUnknown, frame.fields[3]},
                        is_instance ? static_cast<int>(*culprit) : -1};
  }
  changed_.notify_all();
  return true;
}

bool ClusterLink::ended(const Frame& frame) {
  if (frame.fields.size() != 3) return false;
  pop::Result<int> instance = pop::contract::numberField(frame, 0);
  if (!instance.ok() || *instance >= roster_.size()) return false;
  publishEnd(*instance, frame.fields[1] == "1", frame.fields[2]);
  if (*instance == 0) {
    const std::lock_guard lock(mutex_);
    server_end_ = frame.fields[2];
  }
  return true;
}

// The program gets no word: poprun would stop it, too.
bool ClusterLink::aborted(const Frame& frame) {
  if (frame.fields.size() != 2) return false;
  if (!aborting_) {
    pop::Result<int> code = pop::contract::numberField(frame, 0);
    const bool can_be = code.ok() && *code >= 1 && *code <= 255;
    std::fprintf(stderr, "popdist: %s\n", pop::printable(frame.fields[1]).c_str());
    ::poll(nullptr, 0, kAbortSettles_ms);
    std::_Exit(can_be ? *code : EXIT_FAILURE);
  }
  const std::lock_guard lock(mutex_);
  abort_heard_ = true;
  changed_.notify_all();
  return true;
}

void ClusterLink::serverIsGone() {
  const std::string text =
      "instance 0 (" + roster_.tasks[0] + " at " + roster_.workers[0] +
      ") is gone: it has exited without destroying its Context (std::exit), has crashed, or was killed";
  if (!closing_ && instance_ != 0) publishEnd(0, false, text);
  const std::lock_guard lock(mutex_);
  if (server_end_.empty()) server_end_ = text;
  changed_.notify_all();
}

void ClusterLink::publishEnd(int instance, bool clean, const std::string& text) {
  const auto known = static_cast<std::size_t>(instance);
  if (known_ends_[known]) return;
  known_ends_[known] = true;
  pop::contract::publishEndNotice(segment().header(), end_notices_++, instance, clean, text);
}

}  // namespace popdist::cluster
