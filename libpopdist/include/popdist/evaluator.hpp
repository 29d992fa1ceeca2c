// SPDX-License-Identifier: Apache-2.0
// Evaluation from checkpoints: by a job of its own beside the training, or of all that a training has left.
//
//   // TF_CONFIG says that this process is the evaluator: its context is alone and attaches to no IPU.
//   const auto context = train::contextFor();
//   train::SingleStrategy strategy(*context);
//   train::Trainer trainer(strategy, parameters, step, train::sgd(0), {.metrics = {"loss"}});
//   train::evaluateBeside(trainer, {.directory = "runs/a", .infeed = &test,
//                                   .is_last = [](const train::Position& at) { return at.step >= 5000; }},
//                         [](const train::Position& at, const train::Progress& result) { … });
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "popdist/checkpoint.hpp"
#include "popdist/trainer.hpp"

namespace popdist::train {

struct FollowSpec {
  std::filesystem::path directory{};  ///< CheckpointOptions::directory of the training
  io::Infeed* infeed = nullptr;       ///< started anew for each evaluation
  /// True for the training's last checkpoint, such as at the updates where it stops.
  std::function<bool(const Position&)> is_last{};
  /// Longest wait for the first checkpoint, and for each next one: training, its restarts included, takes
  /// less between two.
  std::chrono::milliseconds timeout = std::chrono::hours(1);
};

using Evaluated = std::function<void(const Position& at, const Progress& evaluated)>;

/// Evaluates the newest checkpoint of a training that goes on in other processes, then the one that is newest
/// when that is done, until it has evaluated the last: where a training is quicker than evaluation,
/// checkpoints are left out. Takes no lock and waits for no instance; a training that is killed and started
/// again is one training. `trainer` has the training's parameters; its step runs here, with one instance's
/// replicas, and its optimizer is not used: sgd(0) needs no memory. Calls `evaluated` after each. Returns the
/// number of evaluations. Throws popdist_error kInvalidArgument (no infeed, or no is_last),
/// kFailedPrecondition in a job of several instances, kDeadlineExceeded naming the newest checkpoint when
/// `timeout` is over, and as Checkpoint::load and Trainer::evaluate. From: Estimator's evaluator.
std::uint64_t evaluateBeside(Trainer& trainer, const FollowSpec& spec, const Evaluated& evaluated = {});

/// Evaluates all checkpoints that `directory` has, in order of their steps, for a training that has ended;
/// CheckpointOptions::keep says how many it leaves. Every instance calls it. Returns their number. Throws
/// popdist_error kNotFound when there is none, kFailedPrecondition, on all instances, where they see others,
/// and as the other.
std::uint64_t evaluateAll(Trainer& trainer, const std::filesystem::path& directory, io::Infeed& infeed,
                          const Evaluated& evaluated = {});

}  // namespace popdist::train
