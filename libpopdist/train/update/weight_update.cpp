// SPDX-License-Identifier: Apache-2.0
// Division of an update among the members of a group, and their messages to each other.
#include "popdist/weight_update.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/internal/own_calls.h"
#include "libpopdist/train/agreement/agreement.h"
#include "libpopdist/train/update/block_passes.h"
#include "libpopdist/train/update/state_names.h"
#include "popdist/communicator.hpp"

namespace popdist::train {
namespace {

/// Consecutive instances that share a state, this one among them.
struct Group {
  int first = 0;
  int members = 1;
};

pop::Result<Group> groupOf(const Context& context, int replicas_per_state) {
  const int all = context.numTotalReplicas();
  const int here = context.numLocalReplicas();
  const std::string given = "replicas_per_state is " + std::to_string(replicas_per_state);
  if (replicas_per_state < 1 || all % replicas_per_state != 0)
    return pop::invalidArgument(given + ", which does not divide the job's " + pop::counted(all, "replica"));
  if (replicas_per_state <= here && here % replicas_per_state == 0) return Group{context.instanceIndex(), 1};
  const bool equal_instances = here * context.numInstances() == all;
  if (!equal_instances || replicas_per_state % here != 0)
    return pop::invalidArgument(given + ", which is neither a divisor nor a multiple of the " +
                                pop::counted(here, "replica") + " of an instance");
  const int members = replicas_per_state / here;
  return Group{context.instanceIndex() / members * members, members};
}

pop::Status checkGradients(const Spec& parameters, const Spec& gradients, const Optimizer& optimizer) {
  if (optimizer.transforms.empty()) return pop::invalidArgument("the optimizer has no transform");
  for (const Transform& each : optimizer.transforms) {
    if (!each.apply)
      return pop::invalidArgument("the transform " + pop::inQuotes(each.name) + " has no apply()");
  }
  POP_RETURN_IF_ERROR(checkStateNames(optimizer.transforms));
  const auto same = [](const TensorSpec& a, const TensorSpec& b) {
    return a.name == b.name && a.shape == b.shape;
  };
  if (!std::equal(parameters.begin(), parameters.end(), gradients.begin(), gradients.end(), same))
    return pop::invalidArgument("the gradients are " + textOf(gradients) + ", the parameters " +
                                textOf(parameters));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].type == gradients[i].type || optimizer.casts_gradients) continue;
    return pop::invalidArgument(
        "the parameter " + textOf(parameters[i]) + " accumulates gradients of " + nameOf(gradients[i].type) +
        ": wrap the optimizer in castGradients(), or accumulate " + nameOf(parameters[i].type));
  }
  return pop::Status();
}

bool areFloats(const Spec& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const TensorSpec& tensor) { return tensor.type == Type::kFloat; });
}

}  // namespace

class WeightUpdate::Impl {
 public:
  Impl(Context& context, Spec parameters, const Spec& gradients, Optimizer optimizer,
       const WeightUpdateOptions& options, Group group)
      : context_(context),
        parameters_(std::move(parameters)),
        gradients_(gradients),
        options_(options),
        group_(group),
        blocks_(blocksOf(parameters_)),
        passes_(parameters_, std::move(optimizer), blocks_, shareOf(self()), areFloats(gradients)),
        squares_{std::vector<double>(blocks_.size()), std::vector<double>(blocks_.size())} {
    if (group_.members > 1) joinGroup();
    setSharing();
  }

  bool apply(FlatTensors& gradients, std::span<FlatTensors> values, double factor) {
    throwIfError(check(gradients, values), "WeightUpdate.apply");
    if (options_.skip_not_finite && !finite(gradients)) return false;
    takeRefs(values);
    for (std::size_t pass = 0; pass < passes_.count(); ++pass) {
      shareSquares(passes_.normsFor(pass));
      passes_.run(pass, passes_.all(), updates_done, factor, gradients.refs(), refs_, squares_);
    }
    if (group_.members > 1) gatherValues(values);
    ++updates_done;
    return true;
  }

  bool canUpdateByParameter() const {
    bool needs_all = options_.skip_not_finite || group_.members > 1;
    for (std::size_t pass = 0; pass < passes_.count(); ++pass)
      needs_all = needs_all || passes_.normsFor(pass) == Norms::kOfAll;
    return !needs_all;
  }

  void applyTo(std::size_t parameter, FlatTensors& gradients, std::span<FlatTensors> values, double factor) {
    if (!has_begun_) {  // comparing specs for each parameter would take the square of their number
      throwIfError(checkByParameter(gradients, values), "WeightUpdate.applyTo");
      takeRefs(values);
      has_begun_ = true;
    }
    if (parameter >= parameters_.size())
      throwIfError(pop::invalidArgument("there is no parameter " + std::to_string(parameter) + ", only " +
                                        std::to_string(parameters_.size())),
                   "WeightUpdate.applyTo");
    for (std::size_t pass = 0; pass < passes_.count(); ++pass)
      passes_.run(pass, passes_.blocksOfParameter(parameter), updates_done, factor, gradients.refs(), refs_,
                  squares_);
  }

  void finish() {
    has_begun_ = false;
    ++updates_done;
  }

  std::vector<Piece> state() { return passes_.state(); }
  int groups() const { return context_.numInstances() / group_.members; }
  int group() const { return context_.instanceIndex() / group_.members; }
  std::size_t stateBytes() const { return passes_.stateBytes(); }
  const StateSharing& sharing() const { return sharing_; }

  std::uint64_t updates_done = 0;

 private:
  BlockRange shareOf(int member) const { return train::shareOf(blocks_.size(), group_.members, member); }
  int self() const { return context_.instanceIndex() - group_.first; }

  pop::Status check(const FlatTensors& gradients, std::span<const FlatTensors> values) const;
  pop::Status checkByParameter(const FlatTensors& gradients, std::span<const FlatTensors> values) const;
  void takeRefs(std::span<FlatTensors> values) {
    refs_.clear();
    for (FlatTensors& each : values) refs_.push_back(each.refs());
  }
  void joinGroup();
  void setSharing();
  bool finite(const FlatTensors& gradients);
  void shareSquares(Norms needed);
  void gatherValues(std::span<FlatTensors> values);
  std::size_t byteOf(const Spec& spec, std::size_t block) const;

  Context& context_;
  Spec parameters_;
  Spec gradients_;
  WeightUpdateOptions options_;
  Group group_;
  std::vector<BlockPlace> blocks_;
  BlockPasses passes_;
  BlockSquares squares_;
  std::vector<TensorRefs> refs_;
  bool has_begun_ = false;  // an update parameter by parameter
  std::unique_ptr<Communicator> members_;
  std::shared_ptr<void> told_;  // told of failures
  StateSharing sharing_;
};

// Every instance takes part in making the communicator of every group.
void WeightUpdate::Impl::joinGroup() {
  for (int first = 0; first < context_.numInstances(); first += group_.members) {
    std::set<unsigned> instances;
    for (int i = 0; i < group_.members; ++i) instances.insert(static_cast<unsigned>(first + i));
    std::unique_ptr<Communicator> made = context_.createCommunicator(instances);
    if (!made) continue;
    members_ = std::move(made);
    told_ = internal::alsoAborted(context_, *members_);
  }
}

void WeightUpdate::Impl::setSharing() {
  sharing_.replicas = options_.replicas_per_state;
  for (int instance = 0; instance < context_.numInstances(); ++instance) {
    const BlockRange share = shareOf(instance % group_.members);
    sharing_.parts.push_back({byteOf(gradients_, share.begin), byteOf(gradients_, share.end)});
  }
}

pop::Status WeightUpdate::Impl::check(const FlatTensors& gradients,
                                      std::span<const FlatTensors> values) const {
  const int expected = options_.variables_on_host ? 1 : context_.numLocalReplicas();
  if (static_cast<int>(values.size()) != expected)
    return pop::invalidArgument(
        "there are values of " + pop::counted(static_cast<int>(values.size()), "replica") +
        (options_.variables_on_host ? ", and the host has " : ", and this instance has ") +
        std::to_string(expected));
  for (const FlatTensors& each : values) {
    if (each.spec() != parameters_)
      return pop::invalidArgument("the values are " + textOf(each.spec()) + ", the parameters " +
                                  textOf(parameters_));
  }
  if (gradients.spec() != gradients_)
    return pop::invalidArgument("the gradients are " + textOf(gradients.spec()) + ", expected " +
                                textOf(gradients_));
  return pop::Status();
}

pop::Status WeightUpdate::Impl::checkByParameter(const FlatTensors& gradients,
                                                 std::span<const FlatTensors> values) const {
  if (!canUpdateByParameter())
    return {pop::Code::kFailedPrecondition,
            "this update needs all gradients at once (canUpdateByParameter): call apply()"};
  return check(gradients, values);
}

// Other groups have the same gradients and decide alike.
bool WeightUpdate::Impl::finite(const FlatTensors& gradients) {
  int finite = passes_.finite(gradients.refs()) ? 1 : 0;
  if (members_) members_->allReduce(std::span(&finite, 1), Operator::kMin);
  return finite == 1;
}

void WeightUpdate::Impl::shareSquares(Norms needed) {
  if (!members_ || needed == Norms::kNone) return;
  std::vector<std::size_t> counts;
  for (int member = 0; member < group_.members; ++member)
    counts.push_back(shareOf(member).end - shareOf(member).begin);
  members_->allGather(nullptr, squares_.updates.data(), counts, Type::kDouble);
  if (needed == Norms::kOfEach) members_->allGather(nullptr, squares_.values.data(), counts, Type::kDouble);
}

// Blocks follow each other in memory, so each member's part of the parameters is one piece.
void WeightUpdate::Impl::gatherValues(std::span<FlatTensors> values) {
  FlatTensors& first = values.front();
  std::vector<std::size_t> counts;
  for (int member = 0; member < group_.members; ++member)
    counts.push_back(byteOf(parameters_, shareOf(member).end) - byteOf(parameters_, shareOf(member).begin));
  members_->allGather(nullptr, first.bytes().data(), counts, Type::kUint8);
  const std::size_t begin = byteOf(parameters_, shareOf(self()).begin);
  const std::size_t end = byteOf(parameters_, shareOf(self()).end);
  const std::byte* const from = first.bytes().data();
  for (FlatTensors& other : values.subspan(1)) {  // which have this instance's part already
    std::copy(from, from + begin, other.bytes().data());
    std::copy(from + end, from + first.bytes().size(), other.bytes().data() + end);
  }
}

std::size_t WeightUpdate::Impl::byteOf(const Spec& spec, std::size_t block) const {
  if (block == blocks_.size()) return FlatTensors::bytesOf(spec);
  const BlockPlace& place = blocks_[block];
  return FlatTensors::bytesOf(std::span(spec).first(place.parameter)) +
         place.first * sizeOf(spec[place.parameter].type);
}

WeightUpdate::WeightUpdate(Context& context, Spec parameters, const Spec& gradients, Optimizer optimizer,
                           const WeightUpdateOptions& options) {
  const pop::Result<Group> group = groupOf(context, options.replicas_per_state);
  throwIfError(group.status(), "WeightUpdate");
  throwIfError(checkGradients(parameters, gradients, optimizer), "WeightUpdate");
  impl_ = std::make_unique<Impl>(context, std::move(parameters), gradients, std::move(optimizer), options,
                                 group.value());
}

WeightUpdate::~WeightUpdate() = default;
WeightUpdate::WeightUpdate(WeightUpdate&&) noexcept = default;
WeightUpdate& WeightUpdate::operator=(WeightUpdate&&) noexcept = default;

bool WeightUpdate::apply(FlatTensors& gradients, std::span<FlatTensors> values, double factor) {
  return impl_->apply(gradients, values, factor);
}
const StateSharing& WeightUpdate::sharing() const {
  return impl_->sharing();
}
bool WeightUpdate::canUpdateByParameter() const {
  return impl_->canUpdateByParameter();
}
void WeightUpdate::applyTo(std::size_t parameter, FlatTensors& gradients, std::span<FlatTensors> values,
                           double factor) {
  impl_->applyTo(parameter, gradients, values, factor);
}
void WeightUpdate::finish() {
  impl_->finish();
}
std::uint64_t WeightUpdate::updatesDone() const {
  return impl_->updates_done;
}
void WeightUpdate::setUpdatesDone(std::uint64_t updates) {
  impl_->updates_done = updates;
}
std::vector<Piece> WeightUpdate::state() {
  return impl_->state();
}
int WeightUpdate::groups() const {
  return impl_->groups();
}
int WeightUpdate::group() const {
  return impl_->group();
}
std::size_t WeightUpdate::stateBytes() const {
  return impl_->stateBytes();
}

}  // namespace popdist::train
