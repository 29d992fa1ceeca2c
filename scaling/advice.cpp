// SPDX-License-Identifier: Apache-2.0
#include "scaling/advice.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/text.h"
#include "scaling/figures.h"

namespace pop::scaling {
namespace {

constexpr double kMuch = 0.1;      // share of the time
constexpr double kWorthIt = 1.05;  // times as quick

class Adviser {
 public:
  explicit Adviser(const Analysis& analysis) : analysis_(analysis) {}

  std::vector<Advice> all() {
    onMemory();
    if (!analysis_.points.empty()) {
      onInput();
      onInstances();
      onAccumulation();
      onOutside();
      onBatch();
      onModel();
    }
    const bool compared = analysis_.points.size() > 1;
    if (!analysis_.points.empty() && !compared)
      say(Topic::kMoreRuns, "All runs have " + counted(few().replicas, "replica") +
                                ": run the same with twice as many to see what scales.");
    if (advice_.empty())
      say(Topic::kFine, counted(many().replicas, "replica") + " give " +
                            percentText(analysis_.points.back().efficiency) +
                            " of linear scaling, and no part stands out: nothing to do.");
    return std::move(advice_);
  }

 private:
  const Configuration& few() const { return analysis_.points.front().measured; }
  const Configuration& many() const { return analysis_.points.back().measured; }
  std::string at() const { return "with " + counted(many().replicas, "replica"); }
  void say(Topic topic, std::string text) { advice_.push_back({topic, std::move(text)}); }

  void onMemory() {
    if (analysis_.without_updates.empty()) return;
    std::int64_t fewest = analysis_.without_updates.front().replicas;
    for (const Row& row : analysis_.without_updates) fewest = std::min(fewest, row.replicas);
    say(Topic::kMemory, counted(static_cast<std::int64_t>(analysis_.without_updates.size()), "run") +
                            " ended before the first update (from " + counted(fewest, "replica") +
                            " on). If the model did not fit: planMemory() counts what an IPU keeps; share "
                            "the optimizer's state "
                            "(replicas_per_optimizer_state), offload it, recompute activations or make the "
                            "micro-batch smaller.");
  }

  void onInput() {
    const double share = many().seconds.input / many().seconds.all;
    if (share < kMuch) return;
    std::string text = "Waiting for input takes " + percentText(share) + " of the time " + at();
    if (analysis_.points.size() > 1)
      text += " (" + percentText(few().seconds.input / few().seconds.all) + " with " +
              std::to_string(few().replicas) + ")";
    say(Topic::kInput,
        text +
            ". Start more instances (poprun --num-instances), but no more than a host has NUMA "
            "nodes, or use more hosts; raise InfeedOptions::threads and prefetch(), cache() the "
            "dataset or write it as records; send smaller types and convert them on the device. "
            "`popdist-data compare` tells reading from transfer.");
  }

  // A thread of the instance computes its replicas' steps one after the other.
  void onInstances() {
    if (analysis_.points.size() < 2) return;
    const auto perMicroBatch = [](const Configuration& c) {
      return c.seconds.step / c.updates / static_cast<double>(c.accumulation);
    };
    const auto perInstance = [](const Configuration& c) {
      return static_cast<double>(c.replicas) / static_cast<double>(c.instances);
    };
    const double growth = perMicroBatch(many()) / perMicroBatch(few());
    if (!(perInstance(many()) > perInstance(few())) || growth < 1.2) return;
    say(Topic::kInstances,
        "The step of a micro-batch takes " + figure(growth) + " times as long " + at() + " in " +
            counted(many().instances, "instance") + " as with " + std::to_string(few().replicas) + " in " +
            std::to_string(few().instances) +
            ": an instance computes its replicas one after the other. Start more instances "
            "(poprun --num-instances).");
  }

  void onAccumulation() {
    const Constants& own = analysis_.points.back().own.constants;
    const auto count = static_cast<double>(many().accumulation);
    const double share = own.exchange_s / (own.exchange_s + count * own.micro_batch_s);
    if (!(share >= kMuch)) return;
    const auto speed = [&](double accumulation) {
      return throughput(own, static_cast<double>(many().replicas), static_cast<double>(many().micro_batch),
                        accumulation);
    };
    const double gain = speed(2 * count) / speed(count);
    if (gain < kWorthIt) return;
    say(Topic::kAccumulation,
        "Exchanging gradients and updating take " + percentText(share) + " of an update " + at() + " (" +
            timeText(own.exchange_s) + " beside " +
            (many().accumulation == 1 ? "1 micro-batch"
                                      : std::to_string(many().accumulation) + " micro-batches") +
            " of " + timeText(own.micro_batch_s) + "). accumulation.count " +
            std::to_string(2 * many().accumulation) + " would give " + figure(gain) +
            " times the throughput, with batches of " + figure(2 * many().batch()) +
            " samples. Gradients that are ready early (MicroBatch::ready) and larger buckets "
            "(FusionOptions::bucket_bytes) make an exchange itself cheaper.");
  }

  // The share of the whole program, as far as Trainer's life tells.
  void onOutside() {
    const Seconds& seconds = many().seconds;
    const Outside& outside = many().outside;
    const double whole = seconds.all + seconds.constant;
    const double rest = seconds.constant - outside.start - outside.checkpoints - outside.evaluations;
    const auto saying = [&](Topic topic, double part, const std::string& what, const std::string& cure) {
      if (part < kMuch * whole) return;
      say(topic, what + " takes " + timeText(part / many().runs) + " of a run's " +
                     timeText(whole / many().runs) + " " + at() + ", " + percentText(part / whole) +
                     ", and more replicas do not make it shorter: by Amdahl's law the same "
                     "run is at most " +
                     figure(amdahlLimit(part / whole)) + " times as quick. " + cure);
    };
    saying(Topic::kStart, outside.start, "What comes before the first update",
           "Do imports, downloads and preparations once, ahead of the training; train longer in one run.");
    saying(Topic::kCheckpoints, outside.checkpoints, "Saving checkpoints",
           "Save less often: once an epoch instead of every tenth of it.");
    saying(Topic::kEvaluations, outside.evaluations, "Evaluating",
           "Evaluate less often, or beside the training from its checkpoints (Checkpoint::waitForNewer).");
    saying(Topic::kOutside, rest, "What is between and after runs of the trainer",
           "Move reports and uploads to the end, or to another thread.");
  }

  void onBatch() {
    if (analysis_.points.size() < 2 || !(many().batch() > few().batch())) return;
    const double accumulation = static_cast<double>(many().accumulation) * few().batch() / many().batch();
    std::string text = "The batch has grown from " + figure(few().batch()) + " to " + figure(many().batch()) +
                       " samples with the replicas, and larger batches may converge more slowly. ";
    if (accumulation >= 1) {
      const double speed =
          throughput(analysis_.points.back().own.constants, static_cast<double>(many().replicas),
                     static_cast<double>(many().micro_batch), accumulation);
      text += "Kept at " + figure(few().batch()) + " (accumulation.count " +
              std::to_string(std::llround(accumulation)) + "), " + figure(speed) +
              " samples/s are to be expected instead of " + figure(many().samplesPerSecond()) + ".";
    } else {
      text += "To keep it, the micro-batch would have to be smaller than " +
              std::to_string(many().micro_batch) + ".";
    }
    say(Topic::kBatch, text);
  }

  // The step, which is what replicas are for, is the smaller part even of one micro-batch.
  void onModel() {
    const double batches = many().updates * static_cast<double>(many().accumulation);
    const double step = many().seconds.step / batches;
    const double around = (many().seconds.input + many().seconds.reduction) / batches;
    if (!(around > 2 * step)) return;
    say(Topic::kModel, "A micro-batch takes " + timeText(step) + " to compute, and its input and exchange " +
                           timeText(around) +
                           ": the model is small for its data. A larger model or micro-batch would "
                           "cost little more.");
  }

  const Analysis& analysis_;
  std::vector<Advice> advice_;
};

}  // namespace

const char* nameOf(Topic topic) {
  constexpr std::array kNames{"memory", "input",       "instances",   "accumulation",
                              "start",  "checkpoints", "evaluations", "outside_run",
                              "batch",  "model",       "more_runs",   "fine"};
  return kNames.at(static_cast<std::size_t>(topic));
}

std::vector<Advice> adviceFor(const Analysis& analysis) {
  return Adviser(analysis).all();
}

}  // namespace pop::scaling
