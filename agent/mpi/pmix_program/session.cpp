// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmix_program/session.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/sys/unix_socket.h"

namespace pop::pmix {

using agent::PmixMessage;

Session::Session(os::EpollLoop& loop, sys::Fd control, sys::Fd listener)
    : loop_(loop), control_(std::move(control)), listener_(std::move(listener)) {
  loop_.watchReadable(control_.get(), [this] { receive(); });
}

int Session::run() {
  loop_.run();
  if (!ended_by_.ok()) send(PmixMessage::kFailed, {ended_by_.message()});
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
  return ended_by_.ok() ? 0 : 1;
}

void Session::receive() {
  Result<sys::Received> received = sys::receiveSome(control_.get());
  if (!received.ok() || (received->bytes.empty() && !received->would_block)) return loop_.stop();
  reader_.append(received->bytes);
  while (true) {
    Result<std::optional<contract::Frame>> frame = reader_.next();
    if (!frame.ok()) return end(frame.status());
    if (!frame->has_value()) return;
    if (const Status done = handle(**frame); !done.ok()) return end(done);
  }
}

Status Session::handle(const contract::Frame& frame) {
  if (!server_) {
    POP_ASSIGN_OR_RETURN(agent::PmixJob job, agent::readJob(frame));
    return begin(std::move(job));
  }
  const auto type = static_cast<PmixMessage>(frame.type);
  const Result<int> instance = contract::numberField(frame, 0);
  if (type == PmixMessage::kRelease && frame.fields.size() == 1)
    server_->release(frame.fields[0]);
  else if (type == PmixMessage::kEnded && instance.ok())
    server_->ended(instance.value());
  else
    return {Code::kDataLoss, "the agent sent an unknown message"};
  return {};
}

Status Session::begin(agent::PmixJob job) {
  if (::mkdir(job.directory.c_str(), S_IRWXU) != 0)
    return errnoStatus("creating the directory " + job.directory, errno);
  directory_ = job.directory;
  POP_ASSIGN_OR_RETURN(
      server_,
      PmixServer::start(
          loop_, job,
          {.fence_reached = [this](std::string blob) { send(PmixMessage::kFence, {std::move(blob)}); },
           .aborted =
               [this](int instance, int status, const std::string& message) {
                 send(PmixMessage::kAbort, {std::to_string(instance), std::to_string(status), message});
               },
           .finalized = [this] { relay_->onFinalized(); },
           .spawn_refused =
               [this](int instance, const std::string& command) {
                 send(PmixMessage::kSpawn, {std::to_string(instance), command});
               },
           .unfinished = [this](int instance) { send(PmixMessage::kUnfinished, {std::to_string(instance)}); },
           .stuck =
               [this](int instance, int ended) {
                 send(PmixMessage::kStuck, {std::to_string(instance), std::to_string(ended)});
               }}));
  relay_.emplace(loop_, std::move(listener_), server_->port());
  return {};
}

// Waits while the agent does not read, which it always does. When it is gone, receive() notices.
void Session::send(PmixMessage type, std::vector<std::string> fields) {
  const Result<std::string> bytes = contract::encode({static_cast<std::uint8_t>(type), std::move(fields)});
  if (!bytes.ok()) return end(bytes.status());
  static_cast<void>(sys::sendAll(control_.get(), bytes.value()));
}

void Session::end(const Status& why) {
  ended_by_ = why;
  loop_.stop();
}

}  // namespace pop::pmix
