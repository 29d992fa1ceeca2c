// SPDX-License-Identifier: Apache-2.0
// Host I/O: datasets, and the queues that feed a replica with batches and carry its results to the host.
// The samples of a replica depend only on the dataset, seed, epoch, batch size, replica index and number of
// replicas, never on how replicas are spread over instances: 1x4, 2x2 and 4x1 instances read the same
// batches.
//
//   auto dataset = std::make_shared<IdxDataset>("train-images.gz", "train-labels.gz");
//   Infeed infeed(dataset, {.replica = 3, .replicas = 16, .batch_size = 32, .seed = 42});
//   infeed.startEpoch(0);
//   while (const Batch* batch = infeed.next()) train(*batch);
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "popdist/cxx20.hpp"

namespace popdist::io {

/// Labelled samples of one fixed shape, addressed by index. Derive from it to feed data of your own.
/// All functions are const and are called by the threads of several infeeds at the same time: they must be
/// thread-safe, and size() and featureCount() must never change.
class Dataset {
 public:
  virtual ~Dataset() = default;

  /// Samples in the dataset.
  virtual std::size_t size() const = 0;

  /// Elements in the features of one sample, at least 1.
  virtual std::size_t featureCount() const = 0;

  /// Reads sample `sample` (< size()): its features into `features` (exactly featureCount() elements, all of
  /// them written, row-major), its class into `label`. Normalise here: the infeed's thread makes this call,
  /// beside the computation. May throw; Infeed::next() reports the error.
  virtual void read(std::size_t sample, std::span<float> features, std::int32_t& label) const = 0;
};

/// Images and labels from two IDX files (the format of MNIST), plain or gzip, of unsigned bytes. All of it is
/// kept in memory as bytes: size() * (featureCount() + 1).
class IdxDataset final : public Dataset {
 public:
  /// Reads both files to their ends. `images` has at least two dimensions, the first counting samples;
  /// `labels` has one, of the same length. Throws popdist_error naming the file and what is wrong with it:
  /// kNotFound (the path leads to no file), kPermissionDenied, kDataLoss (truncated, or corrupt gzip),
  /// kInvalidArgument (a directory, not IDX, not unsigned bytes, an empty or overflowing shape, bytes after
  /// the end, counts that differ), kResourceExhausted (no descriptor is left, or the data does not fit in
  /// memory; a false size in the header allocates nothing), kUnknown (other errors of the system, such as a
  /// failing disk). Bytes after the gzip data that are not gzip are ignored, as gzip does.
  IdxDataset(const std::filesystem::path& images, const std::filesystem::path& labels);

  std::size_t size() const override { return labels_.size(); }
  std::size_t featureCount() const override { return feature_count_; }

  /// Features are the image's bytes / 255.0f, in [0, 1]; the label is the label's byte. Throws popdist_error
  /// kOutOfRange for `sample` >= size(), kInvalidArgument for a `features` of another length.
  void read(std::size_t sample, std::span<float> features, std::int32_t& label) const override;

  /// Dimensions of one sample, outermost first: {28, 28} for MNIST. Their product is featureCount().
  const std::vector<std::size_t>& sampleShape() const { return sample_shape_; }

  /// The bytes of one image as they are in the file, featureCount() of them; valid as long as the dataset.
  /// Throws popdist_error kOutOfRange for `sample` >= size().
  std::span<const std::uint8_t> image(std::size_t sample) const;

  /// The labels of all images as they are in the file, size() of them; valid as long as the dataset.
  std::span<const std::uint8_t> labels() const { return labels_; }

 private:
  std::size_t feature_count_ = 0;
  std::vector<std::size_t> sample_shape_;
  std::vector<std::uint8_t> images_;
  std::vector<std::uint8_t> labels_;
};

/// How the samples of an epoch are dealt to replicas.
enum class Sharding : std::uint8_t {
  /// All samples are shuffled by (seed, epoch); step s takes the next replicas * batch_size of them, of which
  /// replica r gets [r * batch_size, (r + 1) * batch_size). Every batch is full: samples beyond the last full
  /// step are dropped (other ones each epoch). Every replica has the same number of steps.
  kTraining,
  /// Every sample exactly once, in the dataset's order: replica r gets a contiguous block; blocks differ by
  /// at most one sample, the longer ones first. A replica's last batch may be shorter, and numbers of steps
  /// may differ.
  kEvaluation,
};

struct InfeedOptions {
  int replica = 0;             ///< global index, 0 ... replicas - 1
  int replicas = 1;            ///< in the whole job, over all instances
  std::size_t batch_size = 1;  ///< samples per replica and step
  std::uint64_t seed = 0;      ///< the same in all replicas; unused by kEvaluation
  Sharding sharding = Sharding::kTraining;
  int prefetch_depth = 3;  ///< batches read ahead, 1 ... 255
};

/// The samples of one replica for one step.
struct Batch {
  std::uint64_t epoch = 0;
  std::size_t step = 0;  ///< 0 ... stepsPerEpoch() - 1
  /// size() x featureCount() elements, row-major: sample i starts at i * featureCount().
  std::vector<float> features;
  std::vector<std::int32_t> labels;  ///< size() elements

  /// Samples: batch_size, or fewer in the last batch of an evaluation.
  std::size_t size() const { return labels.size(); }
};

/// A prefetching queue of batches for one replica. A thread of its own (one per infeed, asleep while the
/// queue is full) reads and converts samples ahead of the caller. Batches come in the order of the sharding
/// for every prefetch_depth. Memory: at most prefetch_depth + 1 batches, allocated when first needed and
/// reused for ever, and 4 bytes per sample of the replica; 4 bytes per sample of the dataset while an epoch
/// starts. The functions of one infeed may be called from any thread, but from one at a time.
class Infeed {
 public:
  /// Starts the thread; reads nothing before startEpoch(). Shares ownership of `dataset`. Throws
  /// popdist_error kInvalidArgument naming the option that is out of range, or that a training step takes
  /// more samples than there are; kResourceExhausted when no thread can be started.
  Infeed(std::shared_ptr<const Dataset> dataset, const InfeedOptions& options);

  /// Allowed at any moment, also in the middle of an epoch. Waits for a Dataset::read() in progress (one
  /// sample at most) or, if an epoch has just been started, until the order of its samples is drawn. In a
  /// forked child, which does not have the thread, it does nothing else than release the object.
  ~Infeed();

  /// A moved-from infeed may only be destroyed or assigned to. Batches from next() stay valid.
  Infeed(Infeed&&) noexcept;
  Infeed& operator=(Infeed&&) noexcept;

  /// Steps in every epoch of this replica; the same for all replicas in kTraining, may be 0 in kEvaluation.
  std::size_t stepsPerEpoch() const;

  /// Starts to read epoch `epoch` (any number, in any sequence) and returns at once. Discards the rest of the
  /// previous epoch and its error. Invalidates the batch of the last next(). Costs the infeed's thread one
  /// shuffle of all samples.
  void startEpoch(std::uint64_t epoch);

  /// The next batch of the epoch, or nullptr after its last one (and again until startEpoch()). Waits,
  /// without a deadline, for the dataset if it is slower than the caller; otherwise costs one uncontended
  /// lock. The batch belongs to the infeed and is valid until the next call of next() or startEpoch(). Throws
  /// popdist_error kFailedPrecondition before the first startEpoch(); or, in place of the batch that could
  /// not be read, what the dataset threw (its code if it is a popdist_error, kResourceExhausted for
  /// std::bad_alloc, else kUnknown), and the same again until startEpoch().
  const Batch* next();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

enum class OutfeedMode : std::uint8_t {
  kAll,   ///< every value, in the order enqueued
  kLast,  ///< only the latest value: an older one that nobody took is overwritten, enqueue() never waits
};

struct OutfeedOptions {
  OutfeedMode mode = OutfeedMode::kAll;
  std::size_t capacity = 3;                          ///< kAll: values held before enqueue() waits, at least 1
  std::chrono::milliseconds enqueue_timeout{10000};  ///< kAll: the longest wait for room, at least 0
};

/// A queue of results (losses, accuracies) from one replica to the host. In kAll it holds `capacity` values
/// and then blocks the replica, as the device does. A program that enqueues and dequeues in one thread must
/// dequeue at least every `capacity` values, or set `capacity` to the number of values of an epoch (4 bytes
/// each, allocated as they come), or use kLast. Any thread may call any function at any time. Waits do not
/// count time in which this process is stopped, such as by Ctrl-Z in poprun, if it is more than a second.
class Outfeed {
 public:
  /// Throws popdist_error kInvalidArgument for a capacity of 0 or a negative timeout.
  explicit Outfeed(const OutfeedOptions& options = {});

  /// No other call may be in progress. In a forked child all calls but this one throw kFailedPrecondition.
  ~Outfeed();

  /// A moved-from outfeed may only be destroyed or assigned to.
  Outfeed(Outfeed&&) noexcept;
  Outfeed& operator=(Outfeed&&) noexcept;

  /// Adds `value`. When the queue is full, waits until another thread dequeues. After enqueue_timeout throws
  /// popdist_error kDeadlineExceeded and leaves the queue unchanged, so the call can be repeated.
  void enqueue(float value);

  /// Takes out all values, oldest first (kLast: at most one). If there are none, waits up to `wait` for the
  /// first one; an empty vector means that none came.
  std::vector<float> dequeueAll(std::chrono::milliseconds wait = std::chrono::milliseconds(0));

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist::io
