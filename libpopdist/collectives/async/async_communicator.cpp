// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <system_error>

#include "common/sys/futex.h"
#include "libpopdist/collectives/api/call_arguments.h"
#include "libpopdist/collectives/async/async_impl.h"
#include "libpopdist/internal/everybody.h"
#include "popdist/error.hpp"

namespace popdist {
namespace {

constexpr std::chrono::milliseconds kLongestSleep{10'000};

// Calls of this process that are done. Who waits for any of several sleeps here.
class Completions {
 public:
  Completions() { ++waiting_; }
  ~Completions() { --waiting_; }
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  static void add() {
    ++count_;
    if (waiting_ > 0) pop::sys::futexWakeAll(count_);
  }
  std::uint32_t count() const { return count_; }
  void wait(std::uint32_t seen, std::chrono::milliseconds limit) const {
    pop::sys::futexWait(count_, seen, limit);
  }

 private:
  static inline std::atomic<std::uint32_t> count_{0};
  static inline std::atomic<int> waiting_{0};
};

}  // namespace

// ---- Pending

Pending::State::State(std::string call_name, const group::CollectiveCall& issued,
                      std::chrono::milliseconds call_timeout)
    : name(std::move(call_name)),
      counts(issued.counts.begin(), issued.counts.end()),
      recv_counts(issued.recv_counts.begin(), issued.recv_counts.end()),
      call(withOwnCounts(issued)),
      timeout(call_timeout),
      fork_(pop::sys::forksOfThisProcess()) {}

group::CollectiveCall Pending::State::withOwnCounts(group::CollectiveCall issued) const {
  issued.counts = counts;
  issued.recv_counts = recv_counts;
  return issued;
}

void Pending::State::finish(std::optional<popdist_error> error) {
  error_ = std::move(error);
  done_.store(1, std::memory_order_release);
  pop::sys::futexWakeAll(done_);
  Completions::add();
}

void Pending::State::wait() const {
  while (!waitFor(kLongestSleep)) continue;
}

bool Pending::State::waitFor(std::chrono::milliseconds limit) const {
  // Fewer would cost short calls a wake-up; more would take the core from the thread that is waited for.
  constexpr int kYields = 20;
  for (int turn = 0; turn < kYields && !done(); ++turn) ::sched_yield();
  if (!done()) refuseFork();
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pop::sys::futexWait(done_, 0, left);
  }
  throwError();
  return true;
}

void Pending::State::refuseFork() const {
  if (fork_ == pop::sys::forksOfThisProcess()) return;
  throw popdist_error(ErrorCode::kFailedPrecondition,
                      describe() + ": this process was forked from the one that issued it");
}

void Pending::State::throwError() const {
  if (!error_) return;
  // Makes a new exception: copies of one share their text, and each waiting thread needs its own.
  throw popdist_error(error_->code(), std::string(error_->what()),
                      {.rank = error_->rank(), .peer = error_->peer(), .operation = error_->operation()});
}

Pending::Pending(std::shared_ptr<State> state) : state_(std::move(state)) {}
void Pending::wait() const {
  state_->wait();
}
bool Pending::waitFor(std::chrono::milliseconds limit) const {
  return state_->waitFor(limit);
}
bool Pending::done() const {
  return state_->done();
}

std::optional<std::size_t> waitAny(std::span<const Pending> calls, std::chrono::milliseconds limit) {
  if (calls.empty()) return std::nullopt;
  const auto end = std::chrono::steady_clock::now() + limit;
  const Completions completions;
  while (true) {
    const std::uint32_t seen = completions.count();
    const auto done = std::ranges::find_if(calls, &Pending::done);
    if (done != calls.end()) return static_cast<std::size_t>(done - calls.begin());
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    completions.wait(seen, std::min(left, kLongestSleep));
  }
}

void async::expectOrder(AsyncCommunicator& communicator) {
  communicator.impl().progress.expectOrder();
}

void async::abort(AsyncCommunicator& communicator, const pop::Status& why, int instance) {
  communicator.impl().progress.abort(why, instance);
}

// ---- AsyncCommunicator

AsyncCommunicator::AsyncCommunicator(std::unique_ptr<Communicator>&& communicator) {
  if (communicator == nullptr) {
    throw popdist_error(ErrorCode::kInvalidArgument,
                        "AsyncCommunicator: this instance is not a member of the communicator");
  }
  try {
    impl_ = std::make_unique<Impl>(std::move(communicator));
  } catch (const std::system_error& error) {
    throw popdist_error(ErrorCode::kResourceExhausted,
                        std::string("AsyncCommunicator: cannot start its thread: ") + error.what());
  }
}
AsyncCommunicator::~AsyncCommunicator() = default;
AsyncCommunicator::AsyncCommunicator(AsyncCommunicator&&) noexcept = default;
AsyncCommunicator& AsyncCommunicator::operator=(AsyncCommunicator&&) noexcept = default;

int AsyncCommunicator::rank() const {
  return impl_->progress.communicator().rank();
}
int AsyncCommunicator::size() const {
  return impl_->progress.communicator().size();
}

Pending AsyncCommunicator::allReduce(const std::string& name, const void* in, void* out, std::size_t count,
                                     Type type, Operator op, Timeout timeout) {
  return impl_->issue(name, api::allReduce(in, out, count, type, op), timeout);
}

Pending AsyncCommunicator::reduceScatter(const std::string& name, const void* in, void* out,
                                         std::size_t count, Type type, Operator op, Timeout timeout) {
  return impl_->issue(name, api::reduceScatter(in, out, count, type, op), timeout);
}

Pending AsyncCommunicator::reduce(const std::string& name, const void* in, void* out, std::size_t count,
                                  Type type, Operator op, int root, Timeout timeout) {
  return impl_->issue(name, api::reduce(in, out, count, type, op, root), timeout);
}

Pending AsyncCommunicator::allGather(const std::string& name, const void* in, void* out, std::size_t count,
                                     Type type, Timeout timeout) {
  return impl_->issue(name, api::allGather(rank(), in, out, count, type), timeout);
}

Pending AsyncCommunicator::allGather(const std::string& name, const void* in, void* out,
                                     std::span<const std::size_t> counts, Type type, Timeout timeout) {
  return impl_->issue(name, api::allGather(in, out, counts, type), timeout);
}

Pending AsyncCommunicator::broadcast(const std::string& name, void* data, std::size_t count, Type type,
                                     int root, Timeout timeout) {
  return impl_->issue(name, api::broadcast(data, count, type, root), timeout);
}

Pending AsyncCommunicator::gather(const std::string& name, const void* in, void* out, std::size_t count,
                                  Type type, int root, Timeout timeout) {
  return impl_->issue(name, api::gather(rank(), in, out, count, type, root), timeout);
}

Pending AsyncCommunicator::scatter(const std::string& name, const void* in, void* out, std::size_t count,
                                   Type type, int root, Timeout timeout) {
  return impl_->issue(name, api::scatter(in, out, count, type, root), timeout);
}

Pending AsyncCommunicator::allToAll(const std::string& name, const void* in, void* out, std::size_t count,
                                    Type type, Timeout timeout) {
  return impl_->issue(name, api::allToAll(in, out, count, type), timeout);
}

Pending AsyncCommunicator::allToAll(const std::string& name, const void* in,
                                    std::span<const std::size_t> send_counts, void* out,
                                    std::span<const std::size_t> recv_counts, Type type, Timeout timeout) {
  return impl_->issue(name, api::allToAll(in, send_counts, out, recv_counts, type), timeout);
}

Pending AsyncCommunicator::sendRecv(const std::string& name, const void* in, std::size_t send_count, int to,
                                    void* out, std::size_t recv_count, int from, Type type, Timeout timeout) {
  return impl_->issue(name, api::sendRecv(in, send_count, to, out, recv_count, from, type), timeout);
}

Pending AsyncCommunicator::barrier(const std::string& name, Timeout timeout) {
  return impl_->issue(name, api::barrier(), timeout);
}

}  // namespace popdist
