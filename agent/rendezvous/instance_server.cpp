// SPDX-License-Identifier: Apache-2.0
#include "agent/rendezvous/instance_server.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "common/base/text.h"
#include "common/log/log.h"
#include "common/sys/account_name.h"
#include "common/sys/cores.h"
#include "common/sys/random_name.h"
#include "common/sys/unix_socket.h"

namespace pop::agent {
namespace {

using contract::Frame;
using contract::InstanceMessage;

// Unknown: more than any number of instances.
std::size_t usableCores() {
  const Result<std::vector<int>> cores = sys::usableCores();
  return cores.ok() ? cores.value().size() : INT32_MAX;
}

}  // namespace

InstanceServer::InstanceServer(os::EpollLoop& loop, Events events)
    : loop_(loop), events_(std::move(events)) {}

InstanceServer::~InstanceServer() {
  reset();
}

void InstanceServer::reset() {
  fence_.reset();
  connections_.clear();
  fd_of_.clear();
  if (listener_.valid()) loop_.unwatch(listener_.get());
  listener_.reset();
  local_instances_.clear();
  have_aborted_.clear();
  segment_ = {};
  reported_.clear();
  deaths_.clear();
}

Result<std::string> InstanceServer::open(const JobSlice& slice) {
  reset();
  job_id_ = slice.job_id;
  key_ = slice.key;
  host_address_ = slice.host_address;
  num_instances_ = slice.num_instances;
  reports_wanted_ = slice.reports_wanted;
  for (const InstanceOrder& order : slice.instances) local_instances_.insert(order.env.instance_index);
  FenceMembers& members = *this;
  const bool all_are_here = std::cmp_equal(local_instances_.size(), num_instances_);
  fence_ = std::make_unique<HostFence>(loop_, segment_, members, local_instances_, all_are_here);
  // Several hosts of a job may share a network namespace, possibly with a user who wants to prevent a restart
  // of the job.
  const std::string name = "popdist-" + job_id_ + "-" + sys::randomName();
  POP_ASSIGN_OR_RETURN(listener_, sys::listenAbstract(name));
  listen();
  return name;
}

void InstanceServer::listen() {
  listening_ = true;
  loop_.watchReadable(listener_.get(), [this] { accept(); });
}

void InstanceServer::accept() {
  Result<sys::Fd> accepted = sys::acceptConnection(listener_.get());
  if (!accepted.ok()) {
    // The loop would report the connection again at once: wait until another connection is closed.
    log::warning(accepted.status().message() + " (see `ulimit -n`)");
    listening_ = false;
    loop_.unwatch(listener_.get());
    return;
  }
  if (!accepted->valid()) return;
  const Result<uid_t> user = sys::peerUser(accepted->get());
  if (!user.ok() || (user.value() != ::geteuid() && user.value() != 0)) {
    if (!std::exchange(has_refused_, true))
      log::warning("refused a connection of user " + (user.ok() ? sys::userText(user.value()) : "?") +
                   " to the job's socket, which takes those of user " + sys::userText(::geteuid()) +
                   " alone: an instance must run as the user of the job (further refusals are not logged)");
    return;
  }
  const int fd = accepted->get();
  connections_.try_emplace(fd, loop_, std::move(*accepted),
                           AnsweredSocket::Events{.readable = [this, fd] { receive(fd); },
                                                  .resumed = [this, fd] { handleFrames(fd); }});
}

void InstanceServer::receive(int fd) {
  Result<sys::Received> received = sys::receiveSome(fd);
  if (!received.ok() || (received->bytes.empty() && !received->would_block)) {
    close(fd);
    return;
  }
  connections_.at(fd).reader.append(received->bytes);
  handleFrames(fd);
}

void InstanceServer::handleFrames(int fd) {
  while (true) {
    const auto found = connections_.find(fd);  // a frame's handler may have closed it
    if (found == connections_.end() || found->second.socket.hasUntaken()) return;
    Result<std::optional<Frame>> frame = found->second.reader.next();
    if (!frame.ok()) {
      log::warning("an instance's connection is closed: " + frame.status().message());
      close(fd);
      return;
    }
    if (!frame->has_value()) return;
    if (handle(fd, found->second, frame->value())) continue;
    log::warning("an instance's connection is closed: it sent an unknown or unexpected message");
    close(fd);
  }
}

// False: it says nothing that it may say now.
bool InstanceServer::handle(int fd, Connection& connection, const Frame& frame) {
  const auto type = static_cast<InstanceMessage>(frame.type);
  const std::size_t fields = frame.fields.size();
  const int instance = connection.instance;
  if (instance < 0 && type == InstanceMessage::kHello) {
    hello(fd, connection, frame);
  } else if (instance < 0) {
    return false;
  } else if (type == InstanceMessage::kPut && fields == 2 && !frame.fields[0].empty()) {
    fence_->put(instance, frame.fields[0], frame.fields[1]);
  } else if (type == InstanceMessage::kGet && fields == 1) {
    const std::optional<std::string> value = fence_->get(frame.fields[0]);
    send(connection, InstanceMessage::kValue, {value ? "1" : "0", value.value_or("")});
  } else if (type == InstanceMessage::kGetAll && fields == 1) {
    getAll(connection, frame.fields[0]);
  } else if (type == InstanceMessage::kFence && fields == 2) {
    const Result<int> timeout_ms = contract::numberField(frame, 0);
    return timeout_ms.ok() &&
           fence_->enter(instance, std::chrono::milliseconds(timeout_ms.value()), frame.fields[1]);
  } else if (type == InstanceMessage::kLook && fields == 0) {
    fence_->look(instance);
  } else if (type == InstanceMessage::kFenceLate && fields == 1) {
    fence_->late(instance, frame.fields[0]);
  } else if (type == InstanceMessage::kAbort && fields == 2) {
    abort(connection, frame);
  } else {
    return false;
  }
  return true;
}

// ---- what the fence wants of them

bool InstanceServer::readsAnswers(int instance) const {
  return !connections_.at(fd_of_.at(instance)).socket.hasUntaken();
}

void InstanceServer::fenceReleased(int instance) {
  send(connections_.at(fd_of_.at(instance)), InstanceMessage::kFenceReleased, {});
}

void InstanceServer::fenceFailed(int instance, const FenceError& error) {
  sendError(connections_.at(fd_of_.at(instance)), error);
}

void InstanceServer::announce(const EndNotice& end_notice) {
  deaths_.push_back(end_notice);
  if (segment_.exists()) segment_.publish(static_cast<std::uint32_t>(deaths_.size() - 1), end_notice);
  if (fence_) fence_->breakBy(end_notice);
}

std::vector<InstanceValue> InstanceServer::takeReported() {
  std::vector<InstanceValue> changed;
  if (!reports_wanted_ || !segment_.exists()) return changed;
  for (const int instance : local_instances_) {
    std::vector<contract::ReadReport> now = segment_.reportsOf(instance);
    std::vector<contract::ReadReport>& before = reported_[instance];
    for (const contract::ReadReport& each : now) {
      if (std::find(before.begin(), before.end(), each) == before.end())
        changed.push_back({instance, each.name, each.fold, each.value});
    }
    before = std::move(now);
  }
  return changed;
}

void InstanceServer::releaseFence(const PutValues& values) {
  if (fence_) fence_->release(values);
}

// ----

void InstanceServer::getAll(Connection& connection, const std::string& prefix) {
  contract::Frame values{static_cast<std::uint8_t>(InstanceMessage::kValues), fence_->getAll(prefix)};
  if (contract::bodyBytes(values) > contract::kMaxFrameBytes) {
    return sendError(connection, {Code::kResourceExhausted, -1,
                                  "the values under " + inQuotes(prefix) + " exceed 64 MiB together"});
  }
  send(connection, InstanceMessage::kValues, std::move(values.fields));
}

// One report ends the job; the controller, or a link to it, would have to store further ones.
void InstanceServer::abort(Connection& connection, const Frame& frame) {
  const Result<int> code = contract::numberField(frame, 0);
  const int exit_code = code.ok() && code.value() > 0 && code.value() < 256 ? code.value() : 1;
  if (have_aborted_.insert(connection.instance).second)
    events_.aborted(connection.instance, exit_code, frame.fields[1]);
  send(connection, InstanceMessage::kAborted, {});
}

void InstanceServer::hello(int fd, Connection& connection, const Frame& frame) {
  const Result<int> protocol = contract::numberField(frame, 0);
  const Result<int> instance = contract::numberField(frame, 1);
  const std::string job = frame.fields.size() > 2 ? frame.fields[2] : "";
  if (!protocol.ok() || protocol.value() != contract::kInstanceProtocol) {
    return refuse(
        fd, connection,
        {Code::kFailedPrecondition, -1,
         "the program's libpopdist and this poprun use different protocol versions (poprun: " +
             std::to_string(contract::kInstanceProtocol) + "): build the program against this version"});
  }
  if (job != job_id_ || !instance.ok() || !local_instances_.contains(instance.value())) {
    return refuse(fd, connection, {Code::kInvalidArgument, -1, "not an instance of this job on this host"});
  }
  if (fd_of_.contains(instance.value())) {
    return refuse(fd, connection,
                  {Code::kAlreadyExists, instance.value(),
                   "instance " + std::to_string(instance.value()) +
                       " is connected already; only one process of an instance can use libpopdist"});
  }
  const Result<std::int64_t> mappable = parseInteger(frame.fields.size() > 3 ? frame.fields[3] : "");
  const bool is_limited = mappable.ok() && mappable.value() > 0;
  const Status made = makeSegment(is_limited ? static_cast<std::size_t>(mappable.value()) : SIZE_MAX);
  if (!made.ok()) {
    return refuse(fd, connection, {made.code(), -1, made.message()});
  }
  connection.instance = instance.value();
  fd_of_[instance.value()] = fd;
  fence_->join(instance.value());
  // The descriptor must be sent with this frame; the send queue is empty here.
  Result<std::string> welcome = contract::encode(
      {static_cast<std::uint8_t>(InstanceMessage::kWelcome),
       {std::to_string(segment_.bytes()), key_, host_address_, std::to_string(usableCores())}});
  const std::array<int, 1> fds{segment_.fd()};
  if (const Status sent = sys::sendAll(fd, *welcome, fds); !sent.ok()) close(fd);
}

// Messages after its end are ignored.
void InstanceServer::refuse(int fd, Connection& connection, const FenceError& error) {
  sendError(connection, error);
  close(fd);
}

Status InstanceServer::makeSegment(std::size_t most_bytes) {
  if (segment_.exists()) return {};
  POP_RETURN_IF_ERROR(segment_.create(num_instances_, reports_wanted_, most_bytes));
  for (std::uint32_t index = 0; index < deaths_.size(); ++index) segment_.publish(index, deaths_[index]);
  return {};
}

void InstanceServer::sendError(Connection& connection, const FenceError& error) {
  send(connection, InstanceMessage::kError,
       {std::to_string(static_cast<int>(error.code)), std::to_string(error.instance), error.message});
}

void InstanceServer::send(Connection& connection, InstanceMessage type, std::vector<std::string> fields) {
  Result<std::string> bytes = contract::encode({static_cast<std::uint8_t>(type), std::move(fields)});
  POP_CHECK(bytes.ok());  // values came in a frame of at least the same size
  connection.socket.send(std::move(*bytes));
}

void InstanceServer::close(int fd) {
  const auto found = connections_.find(fd);
  if (const int instance = found->second.instance; instance >= 0) {
    fence_->leave(instance);
    fd_of_.erase(instance);
  }
  connections_.erase(found);
  if (!listening_) listen();
}

}  // namespace pop::agent
