// SPDX-License-Identifier: Apache-2.0
// The queue that feeds the replicas of an instance with the elements of a dataset, which threads of its own
// read ahead.
//
//   Infeed infeed(std::move(dataset), {.replicas = context.numLocalReplicas()});
//   while (const Tensors* batch = infeed.next(replica)) train(*batch);
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "popdist/cxx20.hpp"
#include "popdist/data_options.hpp"
#include "popdist/dataset.hpp"
#include "popdist/held.hpp"
#include "popdist/tensor.hpp"

namespace popdist::io {

/// The part of an input pipeline that runs on the device: what it makes of a batch never crosses from the
/// host. Such as bytes that become floats there, a quarter of the traffic.
struct DeviceMap {
  Spec batch{};  ///< the infeed's result
  MapFunction function{};
};

struct InfeedOptions {
  int replicas = 1;  ///< this instance's: the elements of the dataset go to each in turn
  int threads = 1;   ///< that read, 1 to 64; a sequence is read by one
  std::optional<DeviceMap> device_map{};
  /// For a sequence: the longest that a replica which is ahead waits for one that takes nothing.
  std::chrono::milliseconds turn_timeout{10000};
  /// Nothing: what the environment says.
  std::optional<DataOptions> data{};
};

/// A replica's position in the data; with it another run goes on at the same element.
struct Position {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;  ///< elements of this pass that the replica has taken

  friend bool operator==(const Position&, const Position&) = default;
};

/// Elements come in the dataset's order for every number of threads and every depth. A step is one element
/// for each replica; where the dataset ends within a step, that step is left out. Memory: at most (prefetch
/// depth + 1) elements a replica, allocated when first needed and used again for ever. Functions may be
/// called by any thread; those of one replica by one at a time. Nothing but next() may run beside start().
/// Replicas may be as far apart as they like, but not where the dataset is a sequence: there one that is
/// ahead by more than the prefetch depth waits for the others.
class Infeed {
 public:
  /// Consumes `dataset`. Reads nothing before the first start() or next(). Throws popdist_error
  /// kInvalidArgument naming the option that is out of range; kResourceExhausted when no thread can be
  /// started.
  explicit Infeed(Dataset dataset, InfeedOptions options = {});

  /// At any moment. Waits for the element that is being read: a batch gives up after its current row. In a
  /// forked child, which has no such threads, it only releases the object.
  ~Infeed();

  /// Elements that next() returned stay valid.
  Infeed(Infeed&&) noexcept;
  Infeed& operator=(Infeed&&) noexcept;

  /// Tensors of next()'s result.
  const Spec& spec() const;

  /// This instance's replicas, InfeedOptions::replicas: next() takes 0 to one less.
  int replicas() const;

  /// Facts that all instances must have in common, so that each element is read by one of them: the steps of
  /// the dataset up to the one that deals elements out to `replicas` (forReplicas) or `instances` (shard),
  /// which are the job's: seeds, sizes and numbers, in words. Empty without such a step. A Trainer compares
  /// it.
  std::string shared(int instances, int replicas) const;

  /// Steps of a pass: Dataset::kEndless for a dataset that repeats for ever, nothing while unknown.
  std::optional<std::uint64_t> steps() const;

  /// Goes to a position: any epoch, in any sequence, from any step. Begins to read and returns; discards what
  /// was read before, and its error. Invalidates what next() returned. Without a call the first next() starts
  /// at epoch 0, step 0.
  void start(Position position = {});

  /// The next element of a replica (0 to options.replicas - 1), or nullptr at the end of the pass, and again
  /// until start(). Waits, without a deadline, for the dataset if it is slower than the caller; otherwise
  /// costs one lock, and DeviceMap's function. The tensors belong to the infeed and are valid until the same
  /// replica's next call. Throws popdist_error kDeadlineExceeded when another replica of a sequence has held
  /// it up for turn_timeout; in place of the element that could not be read, with what the dataset threw (its
  /// code if it is a popdist_error, kResourceExhausted for std::bad_alloc, else kUnknown) and the position,
  /// and the same again until start(); kOutOfRange for a replica that is not here.
  const Tensors* next(int replica = 0);

  /// The replica's position after the elements it has taken; elements read ahead do not count.
  Position position(int replica = 0) const;

  /// Bytes that went from host to device so far, of all replicas: those of the dataset's elements, before
  /// DeviceMap. 0 for synthetic data.
  std::uint64_t bytesFed() const;

 private:
  class Impl;
  popdist::detail::Held<Impl, "Infeed"> impl_;
};

}  // namespace popdist::io
