// SPDX-License-Identifier: Apache-2.0
#include "popdist/pipeline.hpp"

#include <algorithm>

#include "common/base/text.h"
#include "libpopdist/src/tensor/error_edge.h"
#include "libpopdist/src/train/pipeline/describe.h"
#include "libpopdist/src/train/pipeline/interpreter.h"
#include "libpopdist/src/train/pipeline/memory.h"
#include "libpopdist/src/train/pipeline/model.h"

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

  void run(ConstTensorRefs values, TensorRefs gradients, const Feeds& feeds, const UpdateFunction& update,
           const RunOptions& options) {
    if (!model_.training)
      throwIfError(pop::failedPrecondition("no stage has a backward: give all of them one, or call evaluate"),
                   "Pipeline");
    if (!update)
      throwIfError(
          pop::invalidArgument("there is no update function: it changes the values once for each run"),
          "Pipeline");
    throwIfError(checkSpec("gradients", gradients.spec(), model_.options.parameters), "Pipeline");
    check(values, feeds);
    const Schedule& schedule = scheduleOf(
        true, options.gradient_accumulation_count.value_or(model_.options.gradient_accumulation_count));
    std::optional<io::Outfeed::Loop> loop;  // says that values are coming
    if (!model_.sent.empty()) loop.emplace(*feeds.outfeed, feeds.replica);
    for (std::uint64_t i = 0; i < options.repeat_count; ++i)
      interpreter_.run(schedule, {values, gradients.data(), &feeds, &update, options.first_step + i});
  }

  void evaluate(ConstTensorRefs values, const Feeds& feeds, std::int64_t micro_batches, std::uint64_t step) {
    check(values, feeds);
    const Schedule& schedule = scheduleOf(false, micro_batches);
    std::optional<io::Outfeed::Loop> loop;  // says that values are coming
    if (!model_.sent.empty()) loop.emplace(*feeds.outfeed, feeds.replica);
    interpreter_.run(schedule, {values, nullptr, &feeds, nullptr, step});
  }

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

 private:
  void check(ConstTensorRefs values, const Feeds& feeds) const {
    throwIfError(checkSpec("values", values.spec(), model_.options.parameters), "Pipeline");
    throwIfError(checkFeeds(feeds), "Pipeline");
  }

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

  const Schedule& scheduleOf(bool training, std::int64_t count) {
    if (training == model_.training && count == schedule_.microBatches()) return schedule_;
    const bool is_last =
        last_schedule_.options().training == training && last_schedule_.microBatches() == count;
    if (is_last) return last_schedule_;
    ScheduleOptions options = schedule_.options();
    options.training = training;
    options.gradient_accumulation_count = count;
    last_schedule_ = Schedule(std::move(options));
    return last_schedule_;
  }

  const Model model_;
  const Schedule schedule_;
  Schedule last_schedule_;  // of another count, or of evaluation
  const Layout layout_;
  const Memory memory_;
  detail::Interpreter interpreter_;
};

Pipeline::Pipeline(PipelineOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Pipeline::~Pipeline() = default;
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;

void Pipeline::run(ConstTensorRefs values, TensorRefs gradients, const Feeds& feeds,
                   const UpdateFunction& update, const RunOptions& options) {
  impl_->run(values, gradients, feeds, update, options);
}
void Pipeline::evaluate(ConstTensorRefs values, const Feeds& feeds, std::int64_t micro_batches,
                        std::uint64_t step) {
  impl_->evaluate(values, feeds, micro_batches, step);
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
