// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/mpi/mpi_world.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <future>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/sys/blocked_signals.h"
#include "libpopdist/backends/mpi/pmi_server.h"

namespace popdist::backends {
namespace {

constexpr const char* kOwnWorld =
    "world ";                         ///< and the rank in MPI_COMM_WORLD, where the program has started MPI
constexpr const char* kPmi = "pmi ";  ///< and where the process manager is; from rank 0
constexpr const char* kNothing = "-";
constexpr std::chrono::milliseconds kBetweenLooks{100};

using Clock = pop::sys::AwakeClock;

bool startedByProgram() {
  int started = 0;
  MPI_Initialized(&started);
  return started != 0;
}

// The environment that MPICH reads when it starts. Changed in the caller's thread, because other threads may
// read the environment.
class PmiEnvironment {
 public:
  PmiEnvironment(int fd, int rank, int ranks) {
    // UCX would abort this process when it reads the memory of a process that has died; but the survivors
    // must report the error.
    ::setenv("UCX_TLS", "^cma", 0);
    replace("PMI_FD", fd);
    replace("PMI_RANK", rank);
    replace("PMI_SIZE", ranks);
  }

  void restore() const {
    for (const auto& [name, value] : before_) {
      if (value)
        ::setenv(name, value->c_str(), 1);
      else
        ::unsetenv(name);
    }
  }

 private:
  void replace(const char* name, int value) {
    const char* const before = std::getenv(name);
    before_.emplace_back(name, before == nullptr ? std::nullopt : std::optional<std::string>(before));
    ::setenv(name, std::to_string(value).c_str(), 1);
  }

  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

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
template <typename Action>
auto inThread(Action action) {
  std::packaged_task<std::invoke_result_t<Action>()> task(std::move(action));
  auto future = task.get_future();
  const pop::sys::BlockedSignals blocked;  // in the thread, and those that MPI starts: they are the program's
  std::thread(std::move(task)).detach();
  return future;
}

template <typename Value>
pop::Status awaitReady(const std::future<Value>& future, const PopdistGroupInfo& info,
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

pop::Result<std::string> MpiWorld::offer(const PopdistGroupInfo& info) {
  if (startedByProgram()) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return kOwnWorld + std::to_string(rank);
  }
  if (info.rank != 0) return std::string(kNothing);
  if (pmi_address_.empty()) {
    auto address = startPmiServer(info.host_address, info.ranks);
    if (!address.ok()) return address.status();
    pmi_address_ = std::move(address).value();
  }
  return kPmi + pmi_address_;
}

pop::Status MpiWorld::start(const PopdistGroupInfo& info, const std::vector<std::string>& offers) {
  if (failure_.ok()) failure_ = tryStart(info, offers);
  started_ = failure_.ok();
  return failure_;
}

pop::Status MpiWorld::tryStart(const PopdistGroupInfo& info, const std::vector<std::string>& offers) {
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(info.timeout_ms);
  if (pop::Status status = rankInstances(info, offers); !status.ok()) return status;
  const std::string& first = offers.front();
  if (!first.starts_with(kOwnWorld)) return startMpi(info, first.substr(std::strlen(kPmi)), deadline);
  if (pop::Status status = checkThreads(); !status.ok()) return status;
  auto joined = inThread([this, ranks = info.ranks] { return join(ranks); });
  pop::Status status = awaitReady(joined, info, deadline);
  return status.ok() ? joined.get() : status;
}

// `pmi` is the address of the process manager.
pop::Status MpiWorld::startMpi(const PopdistGroupInfo& info, const std::string& pmi,
                               pop::sys::AwakeClock::time_point deadline) {
  auto connected = inThread([pmi, rank = info.rank] { return connectToPmi(pmi, rank); });
  if (pop::Status status = awaitReady(connected, info, deadline); !status.ok()) return status;
  auto connection = connected.get();
  if (!connection.ok()) return connection.status();
  const PmiEnvironment environment(connection->release(), info.rank, info.ranks);  // MPI's from here on
  auto started = inThread([this, ranks = info.ranks] {
    const pop::Status status = startLibrary();
    return status.ok() ? join(ranks) : status;
  });
  // While MPI is still starting it may be reading its environment.
  if (pop::Status status = awaitReady(started, info, deadline); !status.ok()) return status;
  environment.restore();
  return started.get();
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
    int world_rank = static_cast<int>(rank);
    if (by_program) std::from_chars(offer.data() + own_world.size(), offer.data() + offer.size(), world_rank);
    rank_of_instance_[static_cast<std::size_t>(info.instances[rank])] = world_rank;
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
