// SPDX-License-Identifier: Apache-2.0
// A session: until it has an optimizer, weights alone; then a trainer that has them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "libpopdist/train/popart/anchors.h"
#include "popdist/popart_horovod.hpp"
#include "popdist/strategy.hpp"

namespace popdist::popart {

class Session::Impl {
 public:
  Impl(Context& context, Model model, DataFlow data_flow, const SessionOptions& options, Mode mode,
       std::uint64_t seed);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Context& context() const { return context_; }
  const SessionOptions& options() const { return options_; }
  bool isTraining() const { return mode_ == Mode::kTraining; }

  void insertHostAllReduce(train::Optimizer optimizer);
  void broadcastWeights(int root_rank);
  Tensors run(io::Infeed& infeed);
  ConstTensorRefs weights() const;
  void setWeights(ConstTensorRefs weights);

 private:
  pop::Status readyToTrain() const;
  void train(io::Infeed& infeed);
  void infer(io::Infeed& infeed);
  void computeForward(const Batch& batch) const;
  void step(const train::MicroBatch& batch);

  Context& context_;
  const Model model_;
  const DataFlow data_flow_;
  const SessionOptions options_;
  const Mode mode_;
  const Counts counts_;
  std::vector<Tensors> values_;         ///< one for each local replica
  std::optional<Tensors> own_weights_;  ///< none: the trainer has them
  std::optional<train::IpuHorovodStrategy> strategy_;
  std::optional<train::Trainer> trainer_;
  bool has_roots_weights_ = false;
  std::optional<Anchors> anchors_;  ///< the run's
  std::uint64_t first_update_ = 0;  ///< the run's
};

}  // namespace popdist::popart
