// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/mpi/mpi_world.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "common/sys/awake_clock.h"
#include "common/sys/blocked_signals.h"

namespace popdist::backends {
namespace {

constexpr const char* kOwnWorld =
    "world ";  ///< and the rank in MPI_COMM_WORLD, where the program has started MPI
constexpr const char* kNothing = "-";
constexpr std::chrono::milliseconds kBetweenLooks{100};

using Clock = pop::sys::AwakeClock;

bool startedByProgram() {
  int started = 0;
  MPI_Initialized(&started);
  return started != 0;
}

// Connects every rank with every other, both ways, by messages of full length. Otherwise MPI would connect
// two ranks piecemeal in their first call, and if one died in the middle of that, UCX would abort the other.
// Messages between two ranks keep their order, so these come before all others.
pop::Status connectAll(MPI_Comm communicator) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  const std::vector<std::byte> sent(kMaxMessageBytes);
  std::vector<std::byte> received(sent.size());
  const auto bytes = static_cast<int>(sent.size());
  for (int distance = 1; distance < ranks; ++distance) {
    const int failed =
        MPI_Sendrecv(sent.data(), bytes, MPI_BYTE, (rank + distance) % ranks, 0, received.data(), bytes,
                     MPI_BYTE, (rank + ranks - distance) % ranks, 0, communicator, MPI_STATUS_IGNORE);
    if (failed != MPI_SUCCESS) return pop::unavailable("MPI_Sendrecv: " + mpiError(failed));
  }
  return {};
}

pop::Status startLibrary() {
  int threads = 0;
  const int failed = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads);
  if (failed != MPI_SUCCESS) return pop::unavailable("MPI_Init_thread: " + mpiError(failed));
  if (threads < MPI_THREAD_MULTIPLE)
    return {pop::Code::kUnimplemented, "this MPI does not support several threads (MPI_THREAD_MULTIPLE)"};
  return {};
}

// MPICH speaks to poprun by a descriptor that each instance inherits. In the caller's thread, because other
// threads may read the environment.
pop::Status prepareEnvironment(int ranks) {
  if (ranks > 1 && std::getenv("PMI_FD") == nullptr) {
    return pop::failedPrecondition(
        "PMI_FD is not set, by which the instances' MPI finds poprun: --env-for must include pmi");
  }
  // UCX would abort this process when it reads the memory of a process that has died; but the survivors must
  // report the error.
  ::setenv("UCX_TLS", "^cma", 0);
  return {};
}

// Checks an MPI that the program has initialized.
pop::Status checkThreads() {
  int threads = 0;
  MPI_Query_thread(&threads);
  if (threads >= MPI_THREAD_MULTIPLE) return {};
  return pop::failedPrecondition(
      "the program initialized MPI without MPI_THREAD_MULTIPLE: call MPI_Init_thread with it, or let this "
      "backend initialize MPI");
}

// MPI has no deadlines: the action continues in this thread after the caller has stopped waiting.
std::future<pop::Status> inThread(std::function<pop::Status()> action) {
  std::packaged_task<pop::Status()> task(std::move(action));
  std::future<pop::Status> future = task.get_future();
  const pop::sys::BlockedSignals blocked;  // in the thread, and those that MPI starts: they are the program's
  std::thread(std::move(task)).detach();
  return future;
}

pop::Status awaitReady(const std::future<pop::Status>& future, const PopdistGroupInfo& info,
                       Clock::time_point deadline) {
  while (future.wait_for(kBetweenLooks) != std::future_status::ready) {
    std::array<char, 512> text{};
    if (info.ended(info.library, text.data(), text.size()) != 0) return pop::unavailable(text.data());
    if (Clock::now() >= deadline)
      return {pop::Code::kDeadlineExceeded, "not all ranks initialized MPI before the deadline"};
  }
  return {};
}

}  // namespace

std::string mpiError(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int bytes = 0;
  MPI_Error_string(code, text.data(), &bytes);
  return {text.data(), static_cast<std::size_t>(bytes)};
}

MpiWorld& MpiWorld::ofProcess() {
  static MpiWorld& world = *new MpiWorld;  // never destroyed: the thread that starts MPI may outlive main
  return world;
}

std::string MpiWorld::offer() {
  if (!startedByProgram()) return kNothing;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return kOwnWorld + std::to_string(rank);
}

pop::Status MpiWorld::start(const PopdistGroupInfo& info, const std::vector<std::string>& offers) {
  if (failure_.ok()) failure_ = tryStart(info, offers);
  started_ = failure_.ok();
  return failure_;
}

pop::Status MpiWorld::tryStart(const PopdistGroupInfo& info, const std::vector<std::string>& offers) {
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(info.timeout_ms);
  if (pop::Status status = rankInstances(info, offers); !status.ok()) return status;
  const bool by_program = offers.front().starts_with(kOwnWorld);
  if (pop::Status status = by_program ? checkThreads() : prepareEnvironment(info.ranks); !status.ok())
    return status;
  std::future<pop::Status> started = inThread([this, by_program, ranks = info.ranks] {
    const pop::Status status = by_program ? pop::Status() : startLibrary();
    return status.ok() ? join(ranks) : status;
  });
  const pop::Status status = awaitReady(started, info, deadline);
  return status.ok() ? started.get() : status;
}

pop::Status MpiWorld::rankInstances(const PopdistGroupInfo& info, const std::vector<std::string>& offers) {
  const std::string own_world = kOwnWorld;
  const bool by_program = offers.front().starts_with(own_world);
  rank_of_instance_.resize(offers.size());
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    const std::string& offer = offers[rank];
    if (offer.starts_with(own_world) != by_program)
      return pop::failedPrecondition(
          "some instances called MPI_Init before this call, others did not: all must, or none");
    const int instance = info.instances[rank];
    int world_rank = instance;
    if (by_program) std::from_chars(offer.data() + own_world.size(), offer.data() + offer.size(), world_rank);
    rank_of_instance_[static_cast<std::size_t>(instance)] = world_rank;
  }
  return {};
}

pop::Status MpiWorld::join(int ranks) {
  int processes = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (processes != ranks) {
    return pop::failedPrecondition("MPI has " + std::to_string(processes) + " processes, this job has " +
                                   std::to_string(ranks) + " instances: let this backend initialize MPI");
  }
  // A communicator of its own, separate from the program's messages.
  if (const int failed = MPI_Comm_dup(MPI_COMM_WORLD, &communicator_); failed != MPI_SUCCESS)
    return pop::unavailable("MPI_Comm_dup: " + mpiError(failed));
  MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  return connectAll(communicator_);
}

}  // namespace popdist::backends
