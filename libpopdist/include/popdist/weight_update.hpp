// SPDX-License-Identifier: Apache-2.0
// Carries out an optimizer on the replicas of an instance: from reduced gradients to new parameters, the work
// and the optimizer's state cut over instances where that is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "popdist/context.hpp"
#include "popdist/held.hpp"
#include "popdist/optimizer.hpp"
#include "popdist/parameters.hpp"
#include "popdist/piece.hpp"
#include "popdist/state_sharing.hpp"

namespace popdist::train {

struct WeightUpdateOptions {
  /// Replicas that share one copy of the optimizer's state, each keeping a part of it (replicated tensor
  /// sharding). 1: each replica has all of it. Otherwise a divisor of the job's replicas: groups are
  /// consecutive. Parameters come out the same, bit by bit.
  int replicas_per_state = 1;
  /// Skip an update whose gradient has an infinite element, or one that is no number.
  bool skip_not_finite = false;
  /// apply() gets one value: the host's, of which replicas have copies.
  bool variables_on_host = false;
};

class WeightUpdate {
 public:
  /// Called by every instance, with the same arguments. If several instances share a state it costs what
  /// Context::createCommunicator costs. `gradients` is the spec of the gradients: that of `parameters`, but
  /// for types where the optimizer casts. Throws popdist_error kInvalidArgument: the optimizer has no
  /// transform, one without apply(), or two that keep state under one name; gradients of another spec, or of
  /// another type without castGradients(); replicas_per_state does not divide the replicas, or is neither a
  /// divisor nor a multiple of an instance's.
  WeightUpdate(Context& context, Spec parameters, const Spec& gradients, Optimizer optimizer,
               const WeightUpdateOptions& options = {});
  ~WeightUpdate();
  WeightUpdate(WeightUpdate&&) noexcept;
  WeightUpdate& operator=(WeightUpdate&&) noexcept;

  /// values -= the optimizer's update of factor · gradients.
  ///   - `values`: one for each of this instance's replicas (or one: variables_on_host), all the same on all
  ///     replicas of the job.
  ///   - `gradients`: already reduced, this instance's part of sharing() at least. Holds undefined values
  ///     afterwards.
  ///   - Callers: every instance. With state shared over instances: one all-gather of the parameters, and
  ///     for transforms that need norms one of a double for each block; without: nothing is exchanged.
  /// False: the gradient was not finite, and nothing has changed (skip_not_finite). Throws popdist_error
  /// kInvalidArgument for another number of values or other specs, and as Communicator::allGather; values are
  /// then undefined.
  bool apply(FlatTensors& gradients, std::span<FlatTensors> values, double factor = 1);

  /// The gradients that apply() reads in each instance: for Strategy::reductionOf.
  const StateSharing& sharing() const;
  /// True if parameters may be updated one by one, as their gradients come: no transform needs the norm of
  /// all gradients, an update is never skipped (skip_not_finite), and no other instance keeps a part of the
  /// state.
  bool canUpdateByParameter() const;
  /// The part of apply() that changes one parameter: the same bits. Any order, each once in an update, then
  /// finish(). Only if canUpdateByParameter(). Throws as apply() does.
  void applyTo(std::size_t parameter, FlatTensors& gradients, std::span<FlatTensors> values,
               double factor = 1);
  /// All parameters have had their part of the update.
  void finish();

  std::uint64_t updatesDone() const;
  void setUpdatesDone(std::uint64_t updates);  ///< after loading state()

  /// This instance's pieces of the state, to save or to load: floats, named "adam.m/dense.w". The instances
  /// of a group have pieces that together are whole tensors; groups have the same.
  std::vector<Piece> state();
  /// The number of groups, and this instance's.
  int groups() const;
  int group() const;
  /// Bytes of state() in this instance.
  std::size_t stateBytes() const;

 private:
  class Impl;
  popdist::detail::Held<Impl, "WeightUpdate"> impl_;
};

}  // namespace popdist::train
