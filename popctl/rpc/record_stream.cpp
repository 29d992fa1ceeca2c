// SPDX-License-Identifier: Apache-2.0
#include "popctl/rpc/record_stream.h"

#include <utility>

namespace pop::popctl {

RecordStream::RecordStream(Loop& loop, ControllerClient& client, RecordsOf of,
                           std::function<void(std::string_view)> say)
    : loop_(loop), client_(client), of_(of), say_(std::move(say)) {}

RecordStream::~RecordStream() = default;

Status RecordStream::open(Events events) {
  events_ = std::make_shared<Events>(std::move(events));
  const std::weak_ptr<Events> weak = events_;
  reader_.emplace(client_, of_,
                  RecordReader::Events{.more =
                                           [this, weak] {
                                             loop_.post([weak] {
                                               if (const auto to = weak.lock()) to->more();
                                             });
                                           },
                                       .lost =
                                           [this, weak] {
                                             loop_.post([this, weak] {
                                               if (!weak.expired()) say_(reconnectingText(client_.server()));
                                             });
                                           }});
  return {};
}

Result<std::optional<runner::Record>> RecordStream::next() {
  return reader_->take();
}

std::optional<runner::FeedEnd> RecordStream::ended() {
  return reader_->end();
}

bool RecordStream::reachesRunner() const {
  return reader_->connected();
}

// Nothing comes back when it has been passed on.
void RecordStream::send(int signal) {
  reader_->send(signal);
  loop_.post([weak = std::weak_ptr(events_)] {
    if (const auto to = weak.lock()) to->answered();
  });
}

}  // namespace pop::popctl
