// SPDX-License-Identifier: Apache-2.0
// Infeed: a thread that reads batches into a queue, epoch by epoch.
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "common/sys/blocked_signals.h"
#include "libpopdist/src/io/batch_queue.h"
#include "libpopdist/src/io/batch_reader.h"
#include "libpopdist/src/io/error_edge.h"
#include "libpopdist/src/io/of_this_process.h"
#include "popdist/io.hpp"

namespace popdist::io {
namespace {

constexpr int kPrefetchDepthMax = 255;  // the device's own limit

/// Before anything is built from `options`.
const InfeedOptions& checked(const InfeedOptions& options) {
  if (options.prefetch_depth < 1 || options.prefetch_depth > kPrefetchDepthMax) {
    throwIfError(pop::invalidArgument("prefetch_depth is " + std::to_string(options.prefetch_depth) +
                                      ", expected 1 to " + std::to_string(kPrefetchDepthMax)),
                 "Infeed");
  }
  return options;
}

BatchReader makeReader(std::shared_ptr<const Dataset> dataset, const InfeedOptions& options) {
  pop::Result<BatchReader> reader = BatchReader::create(std::move(dataset), options);
  throwIfError(reader.status(), "Infeed");
  return std::move(reader).value();
}

/// The exception in flight as a value. An exception_ptr would share the dataset's own object between two
/// threads.
pop::Status currentException() {
  try {
    throw;
  } catch (const popdist_error& error) {
    return {static_cast<pop::Code>(error.code()), error.what()};
  } catch (const std::bad_alloc&) {
    return {pop::Code::kResourceExhausted, "out of memory: lower batch_size or prefetch_depth"};
  } catch (const std::exception& error) {
    return {pop::Code::kUnknown, error.what()};
  } catch (...) {
    return {pop::Code::kUnknown, "the dataset threw an exception that is not a std::exception"};
  }
}

/// The thread and its queue.
class Prefetch {
 public:
  Prefetch(std::shared_ptr<const Dataset> dataset, const InfeedOptions& options)
      : replica_(options.replica),
        queue_(static_cast<std::size_t>(checked(options).prefetch_depth)),
        reader_(makeReader(std::move(dataset), options)),
        steps_(reader_.stepsPerEpoch()) {
    startThread();
  }

  ~Prefetch() {
    queue_.close();
    thread_.join();
  }

  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  std::size_t stepsPerEpoch() const { return steps_; }
  void startEpoch(std::uint64_t epoch) { queue_.startEpoch(epoch); }

  const Batch* next() {
    pop::Result<const Batch*> batch = queue_.next();
    throwIfError(batch.status(), "Infeed.next");
    return *batch;
  }

 private:
  void startThread() {
    const pop::sys::BlockedSignals blocked;  // in the thread: signals are the program's business
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      throwIfError({pop::Code::kResourceExhausted, "cannot start its thread: " + std::string(error.what())},
                   "Infeed");
    }
  }

  void run() {
    while (const auto ticket = queue_.awaitEpoch()) queue_.finish(*ticket, readEpoch(*ticket));
  }

  pop::Status readEpoch(const BatchQueue::Ticket& ticket) {
    std::size_t step = 0;
    try {
      reader_.startEpoch(ticket.epoch);
      for (; step < steps_; ++step) {
        auto batch = queue_.acquire(ticket);
        if (!batch) break;
        reader_.read(*batch, [&] { return queue_.isStale(ticket); });
        queue_.publish(ticket,
                       std::move(batch));  // half filled only when stale: then this just gives it back
      }
      return {};
    } catch (...) {
      return currentException().during("reading step " + std::to_string(step) + " of epoch " +
                                       std::to_string(ticket.epoch) + " for replica " +
                                       std::to_string(replica_));
    }
  }

  const int replica_;
  BatchQueue queue_;
  BatchReader reader_;  // after construction, the thread's alone
  const std::size_t steps_;
  std::thread thread_;
};

}  // namespace

class Infeed::Impl : public OfThisProcess<Prefetch> {
  using OfThisProcess::OfThisProcess;
};

Infeed::Infeed(std::shared_ptr<const Dataset> dataset, const InfeedOptions& options)
    : impl_(std::make_unique<Impl>("infeed", std::move(dataset), options)) {}
Infeed::~Infeed() = default;
Infeed::Infeed(Infeed&&) noexcept = default;
Infeed& Infeed::operator=(Infeed&&) noexcept = default;

std::size_t Infeed::stepsPerEpoch() const {
  return impl_->constant().stepsPerEpoch();
}
void Infeed::startEpoch(std::uint64_t epoch) {
  impl_->get("Infeed.startEpoch").startEpoch(epoch);
}
const Batch* Infeed::next() {
  return impl_->get("Infeed.next").next();
}

}  // namespace popdist::io
