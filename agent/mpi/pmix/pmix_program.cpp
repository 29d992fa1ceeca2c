// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmix/pmix_program.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "agent/mpi/abort_code.h"
#include "agent/mpi/pmix/connection_user.h"
#include "common/base/text.h"
#include "common/sys/own_program.h"
#include "common/sys/random_name.h"
#include "common/sys/unix_socket.h"

namespace pop::agent {
namespace {

using contract::Frame;

// In memory: Open MPI puts there what the processes of a host share.
constexpr const char* kParentDirectory = "/dev/shm";

// The socket of all instances of a host, which may connect at once.
constexpr int kBacklog = 4096;

struct Listener {
  sys::Fd socket;
  int port = 0;
};

Result<Listener> listenOnLoopback() {
  sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return errnoStatus("creating a TCP socket", errno);
  sockaddr_in address{};
  socklen_t bytes = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), generic, bytes) != 0 || ::listen(socket.get(), kBacklog) != 0 ||
      ::getsockname(socket.get(), generic, &bytes) != 0)
    return errnoStatus("listening at 127.0.0.1", errno);
  return Listener{std::move(socket), ntohs(address.sin_port)};
}

PmixJob jobOf(const JobSlice& slice) {
  PmixJob job{.name = contract::pmixNamespace(slice.job_id),
              .server_name = contract::pmixServerNamespace(slice.job_id),
              .directory = std::string(kParentDirectory) + "/poprun-" + sys::randomName(),
              .num_instances = slice.num_instances,
              .programs = {},
              .hosts = {}};
  for (const InstanceOrder& order : slice.instances) job.programs.push_back(order.program);
  for (const HostInstances& host : *slice.hosts) {
    if (host.first == slice.instances.front().env.instance_index)
      job.this_host = static_cast<int>(job.hosts.size());
    job.hosts.push_back({host.host, host.first, host.count});
  }
  return job;
}

std::string waitsFor(const std::string& instance) {
  return "waits in MPI_Init or MPI_Finalize for instance " + instance + ", which has ended";
}

}  // namespace

PmixProgram::PmixProgram(os::EpollLoop& loop, KeeperLink& keeper, Events events, std::string program)
    : loop_(loop), keeper_(keeper), events_(std::move(events)), program_(std::move(program)) {}

PmixProgram::~PmixProgram() {
  reset();
}

Result<PmixProgram::Place> PmixProgram::open(const JobSlice& slice) {
  reset();
  POP_ASSIGN_OR_RETURN(Listener listener, listenOnLoopback());
  job_ = jobOf(slice);
  ended_.clear();
  have_aborted_.clear();
  listener_ = std::move(listener.socket);
  loop_.watchReadable(listener_.get(), [this] { onConnection(); });
  return Place{std::to_string(listener.port), job_.directory};
}

void PmixProgram::reset() {
  expects_end_ = true;
  if (listener_.valid()) loop_.unwatch(listener_.get());
  listener_.reset();
  hangUp();
  reader_ = contract::FrameReader();
  unsent_.clear();
  in_fence_ = false;
}

void PmixProgram::onConnection() {
  const std::string program = program_.empty() ? sys::ownProgram("popdist-pmix") : program_;
  if (::access(program.c_str(), X_OK) == 0) return start(program);
  if (isOurs())
    fail(
        "an instance speaks PMIx, which needs popdist-pmix beside poprun's other programs: install all of "
        "them, or "
        "build them where poprun was built: cmake --build --preset release -j2 --target poprun_programs");
}

// Anybody on this host can connect. popdist-pmix refuses other users, but where it is missing, they must not
// be able to end the job.
bool PmixProgram::isOurs() {
  const Result<sys::Fd> connection = sys::acceptConnection(listener_.get());
  if (!connection.ok() || !connection.value().valid()) return false;
  const Result<uid_t> user = pmix::tcpPeerUser(connection.value().get());
  return user.ok() && user.value() == ::geteuid();
}

void PmixProgram::start(const std::string& program) {
  loop_.unwatch(listener_.get());
  Result<std::pair<sys::Fd, sys::Fd>> ends = sys::socketPair();
  if (!ends.ok()) return fail(ends.status().message() + " (see `ulimit -n`)");
  auto [ours, its] = std::move(*ends);
  expects_end_ = false;
  keeper_.removeAtEnd(job_.directory);
  keeper_.spawn({.instance = kPmixProgram, .argv = {program}},
                std::array{its.get(), STDERR_FILENO, STDERR_FILENO, listener_.get()});
  listener_.reset();  // if the program ends, instances that connect are refused and do not wait
  control_ = std::move(ours);
  loop_.watchReadable(control_.get(), [this] { receive(); });
  send(jobFrame(job_));
  for (const int instance : ended_) sendEnded(instance);
}

void PmixProgram::receive() {
  while (control_.valid()) {
    Result<sys::Received> received = sys::receiveSome(control_.get());
    if (received.ok() && received->would_block) return;
    if (!received.ok() || received->bytes.empty()) return hangUp();  // the keeper reports its end
    reader_.append(received->bytes);
    while (true) {
      Result<std::optional<Frame>> frame = reader_.next();
      if (!frame.ok()) return fail("popdist-pmix: " + frame.status().message());
      if (!frame->has_value()) break;
      handle(**frame);
    }
  }
}

void PmixProgram::handle(const Frame& frame) {
  const Result<int> instance = contract::numberField(frame, 0);
  const bool is_of_one = instance.ok() && isHere(instance.value());
  const std::size_t fields = frame.fields.size();
  const auto type = static_cast<PmixMessage>(frame.type);
  if (type == PmixMessage::kFence && fields == 1) {
    in_fence_ = true;
    events_.fence_reached({{std::to_string(job_.this_host), frame.fields[0]}});
    findStuck();
  } else if (type == PmixMessage::kAbort && fields == 3 && is_of_one) {
    onAbort(instance.value(), frame);
  } else if (type == PmixMessage::kSpawn && fields == 2 && is_of_one) {
    onSpawn(instance.value(), frame.fields[1]);
  } else if (type == PmixMessage::kStuck && fields == 2 && is_of_one) {
    abort(instance.value(), 1, waitsFor(frame.fields[1]));
  } else if (type == PmixMessage::kUnfinished && fields == 1 && is_of_one) {
    abort(instance.value(), 1,
          "starts an MPI program, and one that it has started before has not called MPI_Finalize");
  } else if (type == PmixMessage::kFailed && fields == 1) {
    fail("popdist-pmix: " + frame.fields[0]);
  } else {
    fail("popdist-pmix sent an unknown message");
  }
}

void PmixProgram::onAbort(int instance, const Frame& frame) {
  const std::string& status = frame.fields[1];
  const Result<std::int64_t> code = parseInteger(status);
  abort(instance, code.ok() ? exitCodeOfAbort(code.value()) : 1, "called MPI_Abort(" + status + ')');
}

// Open MPI tells the instance that called, which then returns or aborts; the others would wait for it for
// ever.
void PmixProgram::onSpawn(int instance, const std::string& command) {
  if (job_.num_instances == 1) return;
  abort(instance, 1,
        "called MPI_Comm_spawn(" + inQuotes(command) +
            "), which poprun does not support: start all processes with poprun -n");
}

// One report of an instance ends the job; the controller, or a link to it, would have to store further ones.
void PmixProgram::abort(int instance, int exit_code, const std::string& why) {
  if (have_aborted_.insert(instance).second) events_.aborted(instance, exit_code, why);
}

// Its last messages may say more than its end.
void PmixProgram::onEnded(const std::string& how) {
  receive();
  if (!expects_end_) fail("popdist-pmix, which serves instances that speak PMIx, " + how);
}

// ---- instances that have ended

void PmixProgram::announce(const EndNotice& end_notice) {
  if (!end_notice.clean || job_.hosts.empty()) return;  // the job ends, or is not served
  ended_.push_back(end_notice.instance);
  sendEnded(end_notice.instance);
  findStuck();
}

// libpmix knows who waits on this host, since fences of one host do not come to us.
void PmixProgram::sendEnded(int instance) {
  if (isHere(instance)) send({static_cast<std::uint8_t>(PmixMessage::kEnded), {std::to_string(instance)}});
}

// Instances of this host wait for all others in a fence, which one that has ended will not enter any more.
void PmixProgram::findStuck() {
  if (in_fence_ && !ended_.empty()) abort(here().first_instance, 1, waitsFor(std::to_string(ended_.front())));
}

bool PmixProgram::isHere(int instance) const {
  return instance >= here().first_instance && instance < here().first_instance + here().count;
}

// ----

void PmixProgram::release(const PutValues& values) {
  in_fence_ = false;
  std::string blob;
  for (const auto& [host, contributed] : values) blob += contributed;
  send({static_cast<std::uint8_t>(PmixMessage::kRelease), {std::move(blob)}});
}

void PmixProgram::send(const Frame& frame) {
  if (!control_.valid()) return;
  Result<std::string> bytes = contract::encode(frame);
  if (!bytes.ok()) return fail("the instances exchange too much: " + bytes.status().message());
  const bool waits = !unsent_.empty();
  unsent_.append(std::move(*bytes));
  if (!waits) flush();
}

// Never blocks: a program that does not read must not hold up the job.
void PmixProgram::flush() {
  while (!unsent_.empty()) {
    const std::string_view next = unsent_.front();
    const ssize_t sent = ::send(control_.get(), next.data(), next.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) {
      unsent_.take(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      return loop_.watchWritable(control_.get(), [this] { flush(); });
    } else if (errno != EINTR) {
      unsent_.clear();  // gone: receive() finds out
    }
  }
  loop_.unwatchWritable(control_.get());
}

void PmixProgram::hangUp() {
  if (control_.valid()) loop_.unwatch(control_.get());
  control_.reset();
}

void PmixProgram::fail(const std::string& why) {
  reset();
  events_.failed(why);
}

}  // namespace pop::agent
