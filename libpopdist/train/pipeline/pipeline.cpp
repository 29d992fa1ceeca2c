// SPDX-License-Identifier: Apache-2.0
#include "popdist/pipeline.hpp"

#include <algorithm>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/pipeline/describe.h"
#include "libpopdist/train/pipeline/interpreter.h"
#include "libpopdist/train/pipeline/memory.h"
#include "libpopdist/train/pipeline/model.h"
#include "libpopdist/train/pipeline/side_by_side.h"

namespace popdist::train {
namespace {

Schedule checkedSchedule(const Model& model) {
  Schedule schedule(scheduleOptions(model));
  throwIfError(checkSharedParameters(model, schedule), "Pipeline");
  return schedule;
}

pop::Status checkSpec(const char* what, const Spec& given, const Spec& expected) {
  if (given == expected) return {};
  return pop::invalidArgument(std::string(what) + " are " + textOf(given) +
                              ", and the pipeline was made for " + textOf(expected));
}

}  // namespace

class Pipeline::Impl {
 public:
  explicit Impl(PipelineOptions options)
      : model_(valueOrThrow(makeModel(std::move(options)), "Pipeline")),
        schedule_(checkedSchedule(model_)),
        last_schedule_(schedule_),
        layout_(layOut(model_, schedule_, model_.options.recompute)),
        memory_(valueOrThrow(Memory::make(model_, layout_), "Pipeline")),
        interpreter_(model_, schedule_, memory_) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void checkRun(ConstTensorRefs values, TensorRefs gradients, const Feeds& feeds,
                const UpdateFunction& update) const {
    if (!model_.training)
      throwIfError(pop::failedPrecondition("no stage has a backward: give all of them one, or call evaluate"),
                   "Pipeline");
    if (!update)
      throwIfError(
          pop::invalidArgument("there is no update function: it changes the values once for each run"),
          "Pipeline");
    throwIfError(checkSpec("gradients", gradients.spec(), model_.options.parameters), "Pipeline");
    check(values, feeds);
  }

  const Schedule& scheduleOfRun(const RunOptions& options) {
    return scheduleOf(
        true, options.gradient_accumulation_count.value_or(model_.options.gradient_accumulation_count));
  }

  const Schedule& scheduleOf(bool training, std::int64_t count) {
    if (training == model_.training && count == schedule_.microBatches()) return schedule_;
    const bool is_last =
        last_schedule_.options().training == training && last_schedule_.microBatches() == count;
    if (is_last) return last_schedule_;
    ScheduleOptions options = schedule_.options();
    options.training = training;
    options.gradient_accumulation_count = count;
    if (!training) {  // nothing is added up, so nothing must come out even
      options.count_rule = CountRule::kAny;
      if (count % options.batch_serialization_iterations != 0) options.batch_serialization_iterations = 1;
    }
    last_schedule_ = Schedule(std::move(options));
    return last_schedule_;
  }

  /// Says that values are coming, until end().
  void announce(const Feeds& feeds) {
    if (!model_.sent.empty()) loop_.emplace(*feeds.outfeed, feeds.replica);
  }
  void end() { loop_.reset(); }

  void begin(const Schedule& schedule, const detail::Call& call) {
    call_.emplace(call);
    interpreter_.begin(schedule, *call_);
  }
  bool act(const Action& action) { return interpreter_.act(action); }

  StageMemory memoryOf(int stage) const {
    if (stage < 0 || stage >= schedule_.stages())
      throwIfError({pop::Code::kOutOfRange, "there is no stage " + std::to_string(stage) + ": there are " +
                                                std::to_string(schedule_.stages())},
                   "Pipeline.memoryOf");
    return layout_.stages[static_cast<std::size_t>(stage)];
  }
  const Model& model() const { return model_; }
  const Schedule& schedule() const { return schedule_; }
  std::size_t storedBytes(bool recompute) const {
    if (recompute == model_.options.recompute) return layout_.stored_bytes;
    return layOut(model_, schedule_, recompute).stored_bytes;
  }

  void check(ConstTensorRefs values, const Feeds& feeds) const {
    throwIfError(checkSpec("values", values.spec(), model_.options.parameters), "Pipeline");
    throwIfError(checkFeeds(feeds), "Pipeline");
  }

 private:
  pop::Status checkFeeds(const Feeds& feeds) const {
    const Spec& inputs = model_.options.inputs;
    if (!inputs.empty() && feeds.infeed == nullptr)
      return pop::invalidArgument("Feeds::infeed is not set, and the first stage reads " + textOf(inputs));
    if (inputs.empty() && feeds.infeed != nullptr)
      return pop::invalidArgument(
          "Feeds::infeed is set, and PipelineOptions::inputs is empty: it would never be read");
    if (feeds.infeed != nullptr)
      POP_RETURN_IF_ERROR(checkSpec("the infeed's tensors", feeds.infeed->spec(), inputs));
    const Spec& arguments = model_.options.arguments;
    if (!arguments.empty() && feeds.arguments == nullptr)
      return pop::invalidArgument("Feeds::arguments is not set, and the pipeline has the run arguments " +
                                  textOf(arguments));
    if (feeds.arguments != nullptr)
      POP_RETURN_IF_ERROR(checkSpec("the run arguments", feeds.arguments->spec(), arguments));
    if (!model_.sent.empty() && feeds.outfeed == nullptr)
      return pop::invalidArgument("Feeds::outfeed is not set, and the last stage has the outputs " +
                                  textOf(model_.sent) + ": set it, or mask them by outfeed_mask");
    return {};
  }

  const Model model_;
  const Schedule schedule_;
  Schedule last_schedule_;  // another count's, or evaluation's
  const Layout layout_;
  const Memory memory_;
  detail::Interpreter interpreter_;
  std::optional<detail::Call> call_;       // the run's that is under way
  std::optional<io::Outfeed::Loop> loop_;  // likewise
};

Pipeline::Pipeline(PipelineOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Pipeline::~Pipeline() = default;
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;

namespace detail {
struct SideBySide::Run {
  Run(std::span<const OfReplica> all, const Schedule& of) : replicas(all), schedule(of) {}
  ~Run() {
    for (const OfReplica& each : replicas) each.pipeline.impl_->end();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void announce() const {
    for (const OfReplica& each : replicas) each.pipeline.impl_->announce(each.feeds);
  }
  void once(const UpdateFunction* update, std::uint64_t step, float loss_scale) const {
    for (const OfReplica& each : replicas)
      each.pipeline.impl_->begin(schedule, {each.values, update == nullptr ? nullptr : each.gradients.data(),
                                            &each.feeds, update, step, loss_scale});
    for (const Action& action : schedule.order()) {
      bool goes_on = true;
      for (const OfReplica& each : replicas) goes_on = each.pipeline.impl_->act(action);
      if (!goes_on) return;
    }
  }

  const std::span<const OfReplica> replicas;
  const Schedule& schedule;
};

void SideBySide::run(std::span<const OfReplica> replicas, const UpdateFunction& update,
                     const RunOptions& options) {
  for (const OfReplica& each : replicas)
    each.pipeline.impl_->checkRun(each.values, each.gradients, each.feeds, update);
  const Run run(replicas, replicas.front().pipeline.impl_->scheduleOfRun(options));
  run.announce();
  for (std::uint64_t i = 0; i < options.repeat_count; ++i)
    run.once(&update, options.first_step + i, options.loss_scale);
}

void SideBySide::evaluate(std::span<const OfReplica> replicas, std::int64_t micro_batches,
                          std::uint64_t step) {
  for (const OfReplica& each : replicas) each.pipeline.impl_->check(each.values, each.feeds);
  const Run run(replicas, replicas.front().pipeline.impl_->scheduleOf(false, micro_batches));
  run.announce();
  run.once(nullptr, step, 1);
}

}  // namespace detail

void Pipeline::run(ConstTensorRefs values, TensorRefs gradients, const Feeds& feeds,
                   const UpdateFunction& update, const RunOptions& options) {
  const detail::OfReplica one{*this, values, gradients, feeds};
  detail::SideBySide::run(std::span(&one, 1), update, options);
}
void Pipeline::evaluate(ConstTensorRefs values, const Feeds& feeds, std::int64_t micro_batches,
                        std::uint64_t step) {
  const detail::OfReplica one{*this, values, TensorRefs(values.spec(), nullptr), feeds};
  detail::SideBySide::evaluate(std::span(&one, 1), micro_batches, step);
}

const PipelineOptions& Pipeline::options() const {
  return impl_->model().options;
}
const Schedule& Pipeline::schedule() const {
  return impl_->schedule();
}
SimulatedTime Pipeline::simulatedTime(const SimulationOptions& times) const {
  return simulate(schedule(), times).total;
}
std::size_t Pipeline::storedBytes(bool recompute) const {
  return impl_->storedBytes(recompute);
}
StageMemory Pipeline::memoryOf(int stage) const {
  return impl_->memoryOf(stage);
}
std::string Pipeline::describe() const {
  return train::describe(impl_->model(), impl_->schedule(), {storedBytes(false), storedBytes(true)});
}

}  // namespace popdist::train
