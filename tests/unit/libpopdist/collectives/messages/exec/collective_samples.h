// SPDX-License-Identifier: Apache-2.0
// Inputs and exact results of every collective, for every element type. Values are small whole numbers that
// all types hold exactly, as are their sums over at most kMostRanks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "libpopdist/collectives/choice/by_messages.h"
#include "popdist/types.hpp"

namespace popdist::exec {

inline constexpr int kMostRanks = 13;

template <typename T>
T valueOf(int number) {
  if constexpr (std::is_same_v<T, bool>)
    return number % 2 != 0;
  else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
    return T(static_cast<float>(number));
  else
    return static_cast<T>(number);
}

/// What element `index` is, is periodic: long vectors are made by copying.
inline constexpr std::size_t kPeriod = 97;
using Period = std::array<int, kPeriod>;

/// Elements in raw memory (std::vector<bool> has no data()), followed by a guard.
template <typename T>
class Elements {
 public:
  explicit Elements(std::size_t count) : bytes_(count * sizeof(T) + kGuardBytes, kUntouched) {}

  /// Elements [at, at + count) become those that lie at `first` and up in the endless repetition of `period`.
  void fill(std::size_t at, std::size_t count, const Period& period, std::size_t first) {
    std::array<T, kPeriod> values;
    for (std::size_t i = 0; i < kPeriod; ++i) values[i] = valueOf<T>(period[(first + i) % kPeriod]);
    for (std::size_t done = 0; done < count; done += kPeriod) {
      std::memcpy(&bytes_[(at + done) * sizeof(T)], values.data(),
                  std::min(kPeriod, count - done) * sizeof(T));
    }
  }

  void* data() { return bytes_.data(); }
  const void* data() const { return bytes_.data(); }
  friend bool operator==(const Elements&, const Elements&) = default;  // the guard included

  std::size_t firstDifference(const Elements& other) const {
    std::size_t at = 0;
    while (at < bytes_.size() && bytes_[at] == other.bytes_[at]) ++at;
    return at / sizeof(T);
  }

 private:
  static constexpr std::size_t kGuardBytes = 16;
  static constexpr unsigned char kUntouched = 0xC3;
  std::vector<unsigned char> bytes_;
};

/// One rank's part of an operation: what it brings and what it must end with.
template <typename T>
class Samples {
 public:
  Samples(plan::Operation operation, int rank, int ranks, std::size_t count, int root)
      : operation_(operation), rank_(rank), ranks_(ranks), count_(count), root_(root) {}

  bool inPlace() const {
    return operation_ == plan::Operation::kAllReduce || operation_ == plan::Operation::kBroadcast;
  }

  Elements<T> input() const {
    const bool blocks =
        operation_ == plan::Operation::kReduceScatter || operation_ == plan::Operation::kAllToAll;
    return block(blocks ? blockCount() * count_ : count_, samplesOf(rank_), 0);
  }

  Elements<T> untouchedOutput() const {
    return Elements<T>(operation_ == plan::Operation::kReduceScatter ? count_ : blockCount() * count_);
  }

  Elements<T> expected() const {
    const std::size_t my_block = static_cast<std::size_t>(rank_) * count_;
    switch (operation_) {
      case plan::Operation::kAllReduce:
        return block(count_, sums(), 0);
      case plan::Operation::kReduceScatter:
        return block(count_, sums(), my_block);
      case plan::Operation::kBroadcast:
        return block(count_, samplesOf(root_), 0);
      case plan::Operation::kAllGather:
        return blockOfEveryRank(0);
      case plan::Operation::kAllToAll:
        return blockOfEveryRank(my_block);
      default:
        return Elements<T>(0);
    }
  }

 private:
  std::size_t blockCount() const { return static_cast<std::size_t>(ranks_); }
  bool reduces() const {
    return operation_ == plan::Operation::kAllReduce || operation_ == plan::Operation::kReduceScatter;
  }

  Period samplesOf(int rank) const {
    Period samples;
    for (std::size_t i = 0; i < kPeriod; ++i) {
      const int mixed = (rank * 31 + static_cast<int>(i) * 7) % static_cast<int>(kPeriod);
      samples[i] = reduces() ? mixed % 9 : mixed + 1;
    }
    return samples;
  }
  Period sums() const {
    Period total{};
    for (int rank = 0; rank < ranks_; ++rank) {
      const Period samples = samplesOf(rank);
      for (std::size_t i = 0; i < kPeriod; ++i) total[i] += samples[i];
    }
    return total;
  }

  static Elements<T> block(std::size_t count, const Period& period, std::size_t first) {
    Elements<T> elements(count);
    elements.fill(0, count, period, first);
    return elements;
  }
  Elements<T> blockOfEveryRank(std::size_t first) const {
    Elements<T> elements(blockCount() * count_);
    for (int rank = 0; rank < ranks_; ++rank) {
      elements.fill(static_cast<std::size_t>(rank) * count_, count_, samplesOf(rank), first);
    }
    return elements;
  }

  const plan::Operation operation_;
  const int rank_;
  const int ranks_;
  const std::size_t count_;
  const int root_;
};

}  // namespace popdist::exec
