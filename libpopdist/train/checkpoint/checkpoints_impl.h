// SPDX-License-Identifier: Apache-2.0
// Checkpoints: the thread that writes, and its hand-over with the caller.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "common/base/json_reader.h"
#include "libpopdist/data/feeds/of_this_process.h"
#include "libpopdist/train/checkpoint/round.h"
#include "popdist/checkpoint.hpp"

namespace popdist::train {

/// Caller and thread take turns: the snapshot, the store and the communicator belong to the thread while an
/// order is there, else to the caller.
class CheckpointWriter {
 public:
  using Accept = std::function<void(const Position&)>;

  CheckpointWriter(Context& context, CheckpointOptions options, Watch watch);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  std::optional<Position> resume(std::span<const Piece> pieces, const Accept& accept);
  void prepare(std::span<const Piece> pieces);
  void save(std::span<const Piece> pieces, const Position& at);
  void wait();
  void setEvaluated(std::uint64_t step);
  std::optional<std::uint64_t> evaluated();
  bool isWriting() const;

 private:
  void openStore(Watch watch);
  void startThread();
  void run();
  Outcome write(const Order& order);
  /// Waits for the thread; then throws what has failed and was not thrown before.
  void awaitTurn(const char* function);
  /// The results of all instances. Throws what any of them has failed with, on all.
  void requireOne(const pop::Result<std::optional<Checkpoint>>& opened, const char* function);
  std::vector<pop::JsonValue> agreed(const std::string& own, const char* function);
  pop::Status describe(const pop::Status& why, std::uint64_t step) const;
  pop::Result<std::optional<Checkpoint>> open(const std::string& newest, const Accept& accept) const;

  Context& context_;
  const CheckpointOptions options_;
  const Watch watch_;
  std::unique_ptr<Communicator> communicator_;
  std::optional<Store> store_;  ///< on instance 0
  Snapshot snapshot_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Order> order_;
  bool is_over_ = false;
  pop::Status failure_;  ///< not thrown yet
  bool is_broken_ = false;
  std::thread thread_;
};

class Checkpoints::Impl {
 public:
  Impl(Context& context, CheckpointOptions options, Watch watch = {})
      : writer_("Checkpoints", context, std::move(options), std::move(watch)) {}

  CheckpointWriter& writer(const char* function) { return writer_.get(function); }

 private:
  io::OfThisProcess<CheckpointWriter> writer_;
};

}  // namespace popdist::train
