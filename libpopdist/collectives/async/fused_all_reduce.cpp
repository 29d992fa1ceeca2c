// SPDX-License-Identifier: Apache-2.0
#include "popdist/fused.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <utility>

#include "libpopdist/collectives/api/call_arguments.h"
#include "libpopdist/collectives/async/async_impl.h"
#include "libpopdist/collectives/async/buckets.h"
#include "libpopdist/collectives/reduce/copy.h"
#include "popdist/buffer.hpp"
#include "popdist/error.hpp"

namespace popdist {

namespace {

[[noreturn]] void fail(ErrorCode code, const std::string& name, const std::string& why) {
  throw popdist_error(code, "FusedAllReduce '" + name + "': " + why,
                      {.rank = -1, .peer = -1, .operation = "FusedAllReduce"});
}

struct Bucket {
  std::string name;
  async::BucketPlan plan;
  std::byte* data = nullptr;     ///< in one piece
  std::optional<Buffer> buffer;  ///< the memory at `data`, if tensors are copied
  shared::Pieces pieces;         ///< instead: each tensor where it is
  std::optional<Buffer> table;   ///< table of the pieces, if the other members can reach them
  std::atomic<std::size_t> missing{0};
  std::optional<Pending> pending;
  std::exception_ptr failure;  ///< the failure of issuing it
  bool has_failed = false;     ///< once
};

// The place of a tensor in its bucket.
struct Slot {
  Bucket* bucket = nullptr;
  std::size_t offset_bytes = 0;
  std::atomic<bool> ready{false};
};

}  // namespace

class FusedAllReduce::Impl {
 public:
  Impl(Context& context, AsyncCommunicator& communicator, std::string name, std::vector<FusedTensor> tensors,
       const FusionOptions& options)
      : communicator_(communicator),
        name_(std::move(name)),
        tensors_(std::move(tensors)),
        options_(options),
        slots_(tensors_.size()) {
    for (const FusedTensor& tensor : tensors_) check(tensor);
    checkApart();
    for (async::BucketPlan& plan : async::planBuckets(tensors_, options_.bucket_bytes))
      add(context, std::move(plan));
  }

  ~Impl() {
    for (Bucket& bucket : buckets_) {
      settle(bucket);
      if (bucket.has_failed) abandonMemory(bucket);
    }
  }

  void ready(std::size_t tensor);
  void wait();
  void onReduced(std::function<void(std::size_t)> reduced) { reduced_ = std::move(reduced); }

  std::size_t tensors() const { return tensors_.size(); }
  std::size_t buckets() const { return buckets_.size(); }
  std::size_t copiedBytes() const;

 private:
  void check(const FusedTensor& tensor) const;
  void checkApart() const;
  void add(Context& context, async::BucketPlan plan);
  void place(Context& context, Bucket& bucket);
  void takePieces(Context& context, Bucket& bucket) const;
  void begin(Bucket& bucket);
  void unpack(const Bucket& bucket) const;
  void tell(const Bucket& bucket);
  std::exception_ptr settle(Bucket& bucket);
  static void abandonMemory(Bucket& bucket);
  std::size_t bytesOf(std::size_t tensor) const {
    return tensors_[tensor].count * sizeOf(tensors_[tensor].type);
  }

  AsyncCommunicator& communicator_;
  const std::string name_;
  const unsigned fork_ = pop::sys::forksOfThisProcess();
  const std::vector<FusedTensor> tensors_;
  const FusionOptions options_;
  std::vector<Slot> slots_;
  std::deque<Bucket> buckets_;
  std::function<void(std::size_t)> reduced_;  ///< the communicator's thread calls it
  std::exception_ptr telling_failed_;         ///< likewise, until wait() has it
};

void FusedAllReduce::Impl::check(const FusedTensor& tensor) const {
  const auto refuse = [&](const std::string& why) {
    fail(ErrorCode::kInvalidArgument, name_, "tensor '" + tensor.name + "': " + why);
  };
  if (sizeOf(tensor.type) == 0) refuse("unknown element type");
  if (!supports(options_.op, tensor.type))
    refuse(std::string(nameOf(options_.op)) + " of " + nameOf(tensor.type) + " is not supported");
  if (tensor.data == nullptr && tensor.count > 0) refuse("data is a null pointer");
}

// Reduction is in place, so memory that two tensors share would be reduced twice.
void FusedAllReduce::Impl::checkApart() const {
  std::vector<std::size_t> by_address;
  for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
    if (bytesOf(tensor) > 0) by_address.push_back(tensor);
  }
  const auto begin = [this](std::size_t tensor) {
    return static_cast<const std::byte*>(tensors_[tensor].data);
  };
  std::sort(by_address.begin(), by_address.end(),
            [&](std::size_t one, std::size_t other) { return std::less<>{}(begin(one), begin(other)); });
  for (std::size_t i = 1; i < by_address.size(); ++i) {
    const std::size_t before = by_address[i - 1];
    const std::size_t tensor = by_address[i];
    if (begin(before) + bytesOf(before) <= begin(tensor)) continue;
    fail(ErrorCode::kInvalidArgument, name_,
         "tensors '" + tensors_[before].name + "' and '" + tensors_[tensor].name +
             "' share memory: register each tensor once");
  }
}

void FusedAllReduce::Impl::add(Context& context, async::BucketPlan plan) {
  Bucket& bucket = buckets_.emplace_back();
  bucket.name = name_ + "/bucket " + std::to_string(buckets_.size() - 1);
  bucket.plan = std::move(plan);
  bucket.missing = bucket.plan.tensors.size();
  place(context, bucket);
  std::size_t offset_bytes = 0;
  for (const std::size_t tensor : bucket.plan.tensors) {
    slots_[tensor].bucket = &bucket;
    slots_[tensor].offset_bytes = offset_bytes;
    offset_bytes += bytesOf(tensor);
  }
}

// Members that share memory take the tensors from where they are, and each other's where those are shared
// too. Messages need one contiguous range.
void FusedAllReduce::Impl::place(Context& context, Bucket& bucket) {
  bucket.data = static_cast<std::byte*>(async::onePiece(bucket.plan, tensors_));
  if (bucket.data != nullptr || bucket.plan.count == 0) return;
  if (communicator_.impl().progress.isShared()) return takePieces(context, bucket);
  bucket.buffer.emplace(context, bucket.plan.count * sizeOf(bucket.plan.type));
  bucket.data = bucket.buffer->as<std::byte>();
}

void FusedAllReduce::Impl::takePieces(Context& context, Bucket& bucket) const {
  bool all_shared = true;
  for (const std::size_t tensor : bucket.plan.tensors) {
    if (bytesOf(tensor) == 0) continue;
    bucket.pieces.add(tensors_[tensor].data, bytesOf(tensor));
    all_shared = all_shared && context.impl().heap.contains(tensors_[tensor].data);
  }
  if (!all_shared) return;
  bucket.table.emplace(context, bucket.pieces.tableBytes());
  bucket.pieces.list(bucket.table->data());
}

void FusedAllReduce::Impl::ready(std::size_t tensor) {
  if (tensor >= tensors_.size()) {
    fail(
        ErrorCode::kInvalidArgument, name_,
        "tensor " + std::to_string(tensor) + " does not exist: there are " + std::to_string(tensors_.size()));
  }
  // The memory belongs to the parent too.
  if (fork_ != pop::sys::forksOfThisProcess())
    fail(ErrorCode::kFailedPrecondition, name_, "this process was forked from the one that created it");
  Slot& slot = slots_[tensor];
  if (slot.ready.exchange(true))
    fail(ErrorCode::kFailedPrecondition, name_,
         "tensor '" + tensors_[tensor].name + "' is already marked ready");
  Bucket& bucket = *slot.bucket;
  if (bucket.buffer && bytesOf(tensor) > 0)
    reduce::copyCached(bucket.data + slot.offset_bytes, tensors_[tensor].data, bytesOf(tensor));
  if (bucket.missing.fetch_sub(1, std::memory_order_acq_rel) == 1) begin(bucket);
}

// wait() reports the failure, like all others.
void FusedAllReduce::Impl::begin(Bucket& bucket) {
  try {
    const std::size_t count = bucket.plan.count;
    const Type type = bucket.plan.type;
    const group::CollectiveCall call =
        bucket.pieces.empty() ? api::allReduce(bucket.data, bucket.data, count, type, options_.op)
                              : api::allReduce(bucket.pieces, count, type, options_.op);
    std::function<void()> on_result;
    if (reduced_) on_result = [this, &bucket] { tell(bucket); };
    bucket.pending = communicator_.impl().issue(bucket.name, call, options_.timeout, std::move(on_result));
  } catch (...) {
    bucket.failure = std::current_exception();
  }
}

void FusedAllReduce::Impl::wait() {
  for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
    if (!slots_[tensor].ready)
      fail(ErrorCode::kFailedPrecondition, name_,
           "tensor '" + tensors_[tensor].name + "' is not marked ready");
  }
  std::exception_ptr first;
  for (Bucket& bucket : buckets_) {
    const std::exception_ptr failure = settle(bucket);
    if (!first) first = failure;
    if (!first && !reduced_) unpack(bucket);
  }
  const std::exception_ptr telling_failed = std::exchange(telling_failed_, nullptr);
  if (!first) first = telling_failed;
  for (Slot& slot : slots_) slot.ready = false;
  if (first) std::rethrow_exception(first);
}

void FusedAllReduce::Impl::unpack(const Bucket& bucket) const {
  if (!bucket.buffer) return;
  for (const std::size_t tensor : bucket.plan.tensors) {
    const std::size_t bytes = bytesOf(tensor);
    if (bytes > 0)
      reduce::copyCached(tensors_[tensor].data, bucket.data + slots_[tensor].offset_bytes, bytes);
  }
}

// In the communicator's thread, while the bucket is not done.
void FusedAllReduce::Impl::tell(const Bucket& bucket) {
  if (telling_failed_) return;
  try {
    unpack(bucket);
    for (const std::size_t tensor : bucket.plan.tensors) reduced_(tensor);
  } catch (...) {
    telling_failed_ = std::current_exception();
  }
}

// Waits until nothing of the bucket is in progress any more. Returns its failure, if any.
std::exception_ptr FusedAllReduce::Impl::settle(Bucket& bucket) {
  std::exception_ptr failure = std::exchange(bucket.failure, nullptr);
  const std::optional<Pending> pending = std::exchange(bucket.pending, std::nullopt);
  try {
    if (pending) pending->wait();
  } catch (...) {
    failure = std::current_exception();
  }
  bucket.missing = bucket.plan.tensors.size();
  bucket.has_failed = bucket.has_failed || failure;
  return failure;
}

// A member that comes late to a call that others have aborted may still work in this memory: it is never
// reused.
void FusedAllReduce::Impl::abandonMemory(Bucket& bucket) {
  if (bucket.buffer) bucket.buffer->release();
  if (bucket.table) bucket.table->release();
}

std::size_t FusedAllReduce::Impl::copiedBytes() const {
  std::size_t bytes = 0;
  for (const Bucket& bucket : buckets_) bytes += bucket.buffer ? bucket.buffer->bytes() : 0;
  return bytes;
}

FusedAllReduce::FusedAllReduce(Context& context, AsyncCommunicator& communicator, std::string name,
                               std::vector<FusedTensor> tensors, const FusionOptions& options)
    : impl_(std::make_unique<Impl>(context, communicator, std::move(name), std::move(tensors), options)) {}
FusedAllReduce::~FusedAllReduce() = default;
FusedAllReduce::FusedAllReduce(FusedAllReduce&&) noexcept = default;
FusedAllReduce& FusedAllReduce::operator=(FusedAllReduce&&) noexcept = default;

void FusedAllReduce::ready(std::size_t tensor) {
  impl_->ready(tensor);
}
void FusedAllReduce::wait() {
  impl_->wait();
}
void FusedAllReduce::onReduced(std::function<void(std::size_t tensor)> reduced) {
  impl_->onReduced(std::move(reduced));
}
void FusedAllReduce::reduce() {
  for (std::size_t tensor = 0; tensor < impl_->tensors(); ++tensor) impl_->ready(tensor);
  impl_->wait();
}
std::size_t FusedAllReduce::buckets() const {
  return impl_->buckets();
}
std::size_t FusedAllReduce::copiedBytes() const {
  return impl_->copiedBytes();
}

}  // namespace popdist
