// SPDX-License-Identifier: Apache-2.0
// The threads that read ahead, and their queue.
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/sys/blocked_signals.h"
#include "libpopdist/data/feeds/feed.h"
#include "libpopdist/data/feeds/feed_queue.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"
#include "libpopdist/trace/recorder.h"

namespace popdist::io {
namespace {

class Prefetched final : public Feed {
 public:
  Prefetched(std::shared_ptr<const Node> node, int depth, const InfeedOptions& options, int threads)
      : node_(std::move(node)),
        replicas_(static_cast<std::uint64_t>(options.replicas)),
        element_bytes_(tensor::bytesOf(node_->spec())),
        queue_(*node_, options.replicas, depth, options.turn_timeout) {
    for (int i = 0; i < threads; ++i) startThread();
  }

  ~Prefetched() override { end(); }

  Prefetched(const Prefetched&) = delete;
  Prefetched& operator=(const Prefetched&) = delete;

  void start(Position position) override { queue_.start(position); }

  pop::Result<const Tensors*> next(int replica) override {
    pop::Result<const Tensors*> element = queue_.next(replica);
    if (element.ok() && *element != nullptr) bytes_fed_.fetch_add(element_bytes_, std::memory_order_relaxed);
    return element;
  }

  Position position(int replica) const override { return queue_.position(replica); }
  std::uint64_t bytesFed() const override { return bytes_fed_.load(std::memory_order_relaxed); }

 private:
  void startThread() {
    const pop::sys::BlockedSignals blocked;  // in the thread: signals are the program's business
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error& error) {
      end();
      throwIfError({pop::Code::kResourceExhausted, "cannot start a thread: " + std::string(error.what())},
                   "Infeed");
    }
  }

  void end() {
    queue_.close();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void run() {
    while (const auto claim = queue_.claim()) queue_.finish(*claim, read(*claim));
  }

  pop::Result<FeedQueue::Outcome> read(const FeedQueue::Claim& claim) {
    try {
      if (!*claim.element) claim.element->emplace(node_->spec());
      const trace::Scope traced(trace::Kind::kInput, "read ahead");
      const bool is_there =
          node_->read({claim.epoch, &queue_.cancelled()}, claim.step * replicas_ + claim.replica,
                      (*claim.element)->refs().data());
      return is_there ? FeedQueue::Outcome::kRead : FeedQueue::Outcome::kEnd;
    } catch (...) {
      return currentException("lower the batch or the prefetch depth", "the dataset")
          .during("reading step " + std::to_string(claim.step) + " of epoch " + std::to_string(claim.epoch) +
                  " for local replica " + std::to_string(claim.replica));
    }
  }

  const std::shared_ptr<const Node> node_;
  const std::uint64_t replicas_;
  const std::uint64_t element_bytes_;
  std::atomic<std::uint64_t> bytes_fed_{0};
  FeedQueue queue_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Feed> prefetched(std::shared_ptr<const Node> node, int depth, const InfeedOptions& options) {
  const int threads = node->isSequence() ? 1 : options.threads;
  return std::make_unique<Prefetched>(std::move(node), depth, options, threads);
}

}  // namespace popdist::io
