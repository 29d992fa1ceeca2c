// SPDX-License-Identifier: Apache-2.0
// Values beside the parameters that a training keeps: metrics, and statistics that are not trained. A
// variable is the same on all replicas, because they reduce what they write (Sync::kOnWrite); or each replica
// has its own, which costs nothing in a step, and they are reduced when the program reads (Sync::kOnRead).
//
//   train::Variables variables(context, {{.name = "correct"}, {.name = "seen"}});
//   variables.of(0, batch.local_replica)[0] += right;          // in the step
//   const double correct = variables.read(0).front();          // on every instance
//
// From: variables of tf.distribute, synchronization=ON_WRITE and ON_READ.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "popdist/checkpoint.hpp"
#include "popdist/context.hpp"
#include "popdist/held.hpp"
#include "popdist/tensor.hpp"

namespace popdist::train {

enum class Sync : std::uint8_t {
  kOnWrite,  ///< mirrored: all replicas have the same
  kOnRead,   ///< each replica has its own
};

/// Aggregation of replicas' values, added in double in order of replica: the same bits for every split over
/// instances.
enum class Aggregation : std::uint8_t { kSum, kMean, kMax, kMin, kFirstReplica };

struct VariableSpec {
  std::string name{};
  Shape shape{};  ///< none: one number
  Sync sync = Sync::kOnRead;
  Aggregation aggregation = Aggregation::kSum;
  double initial = 0;  ///< value of each element, on each replica
};

/// The variables of all replicas of this instance.
///
/// Calls marked "collective" are made by every instance, in the same order. One call at a time. Threads: one
/// of an AsyncCommunicator. Errors: where instances make different calls, or of different variables, all get
/// popdist_error kFailedPrecondition at once. A call that one instance makes and another does not throws
/// popdist_error kDeadlineExceeded after the timeout (Context::setTimeout, or that of the call): it names the
/// variable and the instances that are missing. Those get an error when they come. After any error but
/// kInvalidArgument nothing can be read any more; each replica's own values stay.
class Variables {
 public:
  /// Collective. Costs as Context::createCommunicator. Throws popdist_error kInvalidArgument: names that are
  /// empty or there twice, and shapes without an element; kFailedPrecondition: instances have other
  /// variables.
  Variables(Context& context, std::vector<VariableSpec> variables);
  ~Variables();
  Variables(Variables&&) noexcept;
  Variables& operator=(Variables&&) noexcept;

  std::size_t size() const;
  const VariableSpec& spec(std::size_t variable) const;
  /// Its number. Throws popdist_error kNotFound with the names that there are.
  std::size_t find(const std::string& name) const;

  /// A local replica's own value, to read and to change. Local. Throws popdist_error kInvalidArgument for
  /// kOnWrite, whose values only write() changes.
  std::span<double> of(std::size_t variable, int local_replica);
  /// Values of any variable, to read what this replica has now. Local.
  std::span<const double> at(std::size_t variable, int local_replica) const;

  /// The replicas' values together. kOnRead: collective, sends this instance's values to all. kOnWrite:
  /// local, and costs nothing. `timeout`: as CallOptions::timeout.
  std::vector<double> read(std::size_t variable, std::optional<std::chrono::milliseconds> timeout = {});

  /// For kOnWrite: all replicas get the aggregation of `values`, which are those of this instance's replicas,
  /// one after the other. Collective. Throws popdist_error kInvalidArgument for another number of values, and
  /// for kOnRead.
  void write(std::size_t variable, std::span<const double> values,
             std::optional<std::chrono::milliseconds> timeout = {});

  /// Every local replica's value becomes the initial one. Local; call it on all instances.
  void reset(std::size_t variable);

  /// All variables, read, to be saved: collective, so all instances must checkpoint together. All have the
  /// same pieces (shareOf), named "variable/correct", until the next call.
  std::vector<Piece> pieces();
  /// The same memory, to load a checkpoint into; local. Then loaded().
  std::vector<Piece> piecesToLoad();
  /// Gives the replicas what was loaded, so that a read gives it again, to the bit: a sum is the job's first
  /// replica's, and the others have 0; otherwise all have the same. Local.
  void loaded();

 private:
  class Impl;
  popdist::detail::Held<Impl, "Variables"> impl_;
};

}  // namespace popdist::train
