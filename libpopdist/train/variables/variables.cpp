// SPDX-License-Identifier: Apache-2.0
#include "popdist/variables.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"
#include "libpopdist/internal/everybody.h"
#include "libpopdist/internal/own_calls.h"
#include "libpopdist/train/agreement/agreement.h"
#include "libpopdist/train/variables/aggregate.h"
#include "popdist/async.hpp"

namespace popdist::train {
namespace {

Spec tensorsOf(const std::vector<VariableSpec>& variables) {
  Spec spec;
  for (const VariableSpec& each : variables) spec.push_back({each.name, Type::kDouble, each.shape});
  return spec;
}

pop::Status check(const std::vector<VariableSpec>& variables) {
  const Spec tensors = tensorsOf(variables);
  POP_RETURN_IF_ERROR(tensor::checkSpec(tensors));
  for (const TensorSpec& each : tensors)
    if (each.elements() == 0)
      return pop::invalidArgument("the variable " + textOf(each) + " has no elements");
  return pop::Status();
}

/// The text that instances compare, with which they agree on names, too.
std::string textOfAll(const std::vector<VariableSpec>& variables) {
  std::string text;
  for (const VariableSpec& each : variables) {
    text += (text.empty() ? "" : ", ") + textOf(TensorSpec{each.name, Type::kDouble, each.shape}) +
            (each.sync == Sync::kOnRead ? " on read " : " on write ") +
            std::to_string(static_cast<int>(each.aggregation)) + " from " + pop::numberText(each.initial);
  }
  return text;
}

}  // namespace

class Variables::Impl {
 public:
  Impl(Context& context, std::vector<VariableSpec> variables)
      : specs_(std::move(variables)),
        local_(static_cast<std::size_t>(context.numLocalReplicas())),
        has_first_(context.replicaIndexOffset() == 0),
        replicas_(agree(context, textOfAll(specs_))),
        members_(async::everybody(context)) {
    async::expectOrder(members_);
    std::size_t replicas = 0;
    for (const std::uint64_t of_instance : replicas_) replicas += of_instance;
    for (const TensorSpec& each : tensorsOf(specs_)) {
      whole_.emplace_back(each.elements());
      gathered_.emplace_back(each.elements() * replicas);
      own_.emplace_back(each.elements() * local_);
      reset(own_.size() - 1);
    }
  }

  const std::vector<VariableSpec>& specs() const { return specs_; }

  const VariableSpec& spec(std::size_t variable, const char* function) const {
    if (variable >= specs_.size())
      throwIfError(pop::invalidArgument("there is no variable " + std::to_string(variable) + ", only " +
                                        pop::counted(static_cast<int>(specs_.size()), "variable")),
                   function);
    return specs_[variable];
  }

  void expect(Sync sync, std::size_t variable, const char* function) const {
    const VariableSpec& of = spec(variable, function);
    if (of.sync == sync) return;
    throwIfError(pop::invalidArgument("the variable " + pop::inQuotes(of.name) +
                                      (sync == Sync::kOnRead
                                           ? " is the same on all replicas (Sync::kOnWrite): write() it"
                                           : " is each replica's own (Sync::kOnRead): change what of() "
                                             "gives")),
                 function);
  }

  std::span<double> own(std::size_t variable, int local_replica, const char* function) {
    spec(variable, function);
    if (local_replica < 0 || static_cast<std::size_t>(local_replica) >= local_)
      throwIfError(
          pop::invalidArgument("this instance has no local replica " + std::to_string(local_replica) +
                               ", only 0 to " + std::to_string(local_ - 1)),
          function);
    const std::size_t elements = whole_[variable].size();
    return std::span(own_[variable]).subspan(static_cast<std::size_t>(local_replica) * elements, elements);
  }

  void reset(std::size_t variable) {
    std::fill(own_[variable].begin(), own_[variable].end(), specs_[variable].initial);
  }

  std::vector<double> read(std::size_t variable, AsyncCommunicator::Timeout timeout) {
    if (spec(variable, "Variables.read").sync == Sync::kOnWrite) {
      const auto values = own(variable, 0, "Variables.read");
      return {values.begin(), values.end()};
    }
    gather("read of the variable ", variable, own_[variable], timeout).wait();
    return aggregated(variable);
  }

  void write(std::size_t variable, std::span<const double> values, AsyncCommunicator::Timeout timeout) {
    expect(Sync::kOnWrite, variable, "Variables.write");
    if (values.size() != own_[variable].size())
      throwIfError(pop::invalidArgument("there are " + std::to_string(values.size()) + " values for " +
                                        pop::inQuotes(specs_[variable].name) + ", expected " +
                                        std::to_string(own_[variable].size()) + ", those of " +
                                        pop::counted(static_cast<int>(local_), "replica")),
                   "Variables.write");
    gather("write of the variable ", variable, values, timeout).wait();
    const std::vector<double> all = aggregated(variable);
    for (std::size_t replica = 0; replica < local_; ++replica)
      std::copy(all.begin(), all.end(), own(variable, static_cast<int>(replica), "Variables.write").begin());
  }

  void readAll() {
    std::vector<std::pair<std::size_t, Pending>> read;
    for (std::size_t variable = 0; variable < specs_.size(); ++variable) {
      if (specs_[variable].sync == Sync::kOnRead)
        read.emplace_back(variable, gather("checkpoint of the variable ", variable, own_[variable], {}));
      else
        std::copy_n(own_[variable].begin(), whole_[variable].size(), whole_[variable].begin());
    }
    for (const auto& [variable, pending] : read) {
      pending.wait();
      whole_[variable] = aggregated(variable);
    }
  }

  std::vector<Piece> pieces() {
    std::vector<Piece> pieces;
    for (std::size_t variable = 0; variable < specs_.size(); ++variable)
      pieces.push_back({.name = "variable/" + specs_[variable].name,
                        .type = Type::kDouble,
                        .shape = specs_[variable].shape,
                        .bytes = std::as_writable_bytes(std::span(whole_[variable]))});
    return pieces;
  }

  void loaded() {
    for (std::size_t variable = 0; variable < specs_.size(); ++variable) {
      const std::vector<double>& whole = whole_[variable];
      const bool is_sum =
          specs_[variable].sync == Sync::kOnRead && specs_[variable].aggregation == Aggregation::kSum;
      for (std::size_t replica = 0; replica < local_; ++replica) {
        const auto to = own_[variable].begin() + static_cast<std::ptrdiff_t>(replica * whole.size());
        const bool takes = !is_sum || (has_first_ && replica == 0);
        if (takes)
          std::copy(whole.begin(), whole.end(), to);
        else
          std::fill_n(to, whole.size(), 0.0);
      }
    }
  }

 private:
  /// The values of all replicas, into gathered_.
  Pending gather(const char* what, std::size_t variable, std::span<const double> own,
                 AsyncCommunicator::Timeout timeout) {
    std::vector<std::size_t> counts;
    for (const std::uint64_t replicas : replicas_) counts.push_back(replicas * whole_[variable].size());
    return members_.allGather(what + specs_[variable].name, own.data(), gathered_[variable].data(), counts,
                              Type::kDouble, timeout);
  }

  std::vector<double> aggregated(std::size_t variable) const {
    std::vector<double> result(whole_[variable].size());
    aggregate(specs_[variable].aggregation, gathered_[variable], result);
    return result;
  }

  /// The number of each instance's replicas.
  static std::vector<std::uint64_t> agree(Context& context, const std::string& variables) {
    requireSame(context, {{.name = "the variables", .text = variables}}, "Variables");
    const auto own = static_cast<std::uint64_t>(context.numLocalReplicas());
    std::vector<std::uint64_t> replicas(static_cast<std::size_t>(context.numInstances()));
    internal::ownCommunicator(context).allGather(&own, replicas.data(), 1, Type::kUint64,
                                                 {.tensor = "variables"});
    return replicas;
  }

  const std::vector<VariableSpec> specs_;
  const std::size_t local_;  // replicas
  const bool has_first_;     // replica of the job
  const std::vector<std::uint64_t> replicas_;
  std::vector<std::vector<double>> own_;       // by variable: its local replicas' values
  std::vector<std::vector<double>> whole_;     // by variable: what is saved
  std::vector<std::vector<double>> gathered_;  // by variable: all replicas' values
  AsyncCommunicator members_;                  // its thread uses the others
};

Variables::Variables(Context& context, std::vector<VariableSpec> variables) {
  internal::prepareOwnCalls(context);
  requireSound(context, check(variables), "Variables");
  impl_ = std::make_unique<Impl>(context, std::move(variables));
}
Variables::~Variables() = default;
Variables::Variables(Variables&&) noexcept = default;
Variables& Variables::operator=(Variables&&) noexcept = default;

std::size_t Variables::size() const {
  return impl_->specs().size();
}
const VariableSpec& Variables::spec(std::size_t variable) const {
  return impl_->spec(variable, "Variables.spec");
}
std::size_t Variables::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const VariableSpec& each : impl_->specs()) {
    if (each.name == name) return names.size();
    names.push_back(each.name);
  }
  throw popdist_error(ErrorCode::kNotFound,
                      "Variables.find: there is no variable " + pop::inQuotes(name) + "; there " +
                          (names.empty() ? "are none" : "is " + pop::join(names, ", ")));
}
std::span<double> Variables::of(std::size_t variable, int local_replica) {
  impl_->expect(Sync::kOnRead, variable, "Variables.of");
  return impl_->own(variable, local_replica, "Variables.of");
}
std::span<const double> Variables::at(std::size_t variable, int local_replica) const {
  return impl_->own(variable, local_replica, "Variables.at");
}
std::vector<double> Variables::read(std::size_t variable, std::optional<std::chrono::milliseconds> timeout) {
  return impl_->read(variable, timeout);
}
void Variables::write(std::size_t variable, std::span<const double> values,
                      std::optional<std::chrono::milliseconds> timeout) {
  impl_->write(variable, values, timeout);
}
void Variables::reset(std::size_t variable) {
  impl_->spec(variable, "Variables.reset");
  impl_->reset(variable);
}
std::vector<Piece> Variables::pieces() {
  impl_->readAll();
  return impl_->pieces();
}
std::vector<Piece> Variables::piecesToLoad() {
  return impl_->pieces();
}
void Variables::loaded() {
  impl_->loaded();
}

}  // namespace popdist::train
