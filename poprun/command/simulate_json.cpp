// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "common/base/json.h"
#include "common/base/text.h"
#include "poprun/command/simulate_report.h"

namespace pop {
namespace {

using pod::predict::Placement;
using pod::predict::Prediction;

std::string numberOf(double value) {
  return std::isfinite(value) ? numberText(value) : "null";
}

template <typename Item, typename Function>
std::string listOf(const std::vector<Item>& items, const Function& textOfItem) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "" : ",") + textOfItem(item);
  return '[' + text + ']';
}

JsonObject placementObject(const Placement& placement) {
  JsonObject object;
  object.text("system", placement.system.name)
      .number("replicas", placement.replicas)
      .number("micro_batch", placement.micro_batch)
      .number("gradient_accumulation", placement.gradient_accumulation);
  return object;
}

std::string learnedObject(const pod::predict::LearnedTime& time) {
  return JsonObject()
      .text("time", time.key)
      .json("seconds", numberOf(time.seconds))
      .text("from", time.rests_on)
      .str();
}

std::string runObject(const RunBesidePrediction& each) {
  return placementObject(each.run.measured.placement)
      .number("line", static_cast<std::int64_t>(each.run.measured.line))
      .json("measured_step", numberOf(each.run.measured.step_s))
      .json("predicted_step", numberOf(each.run.predicted.seconds.all()))
      .json("error", numberOf(each.run.error()))
      .boolean("held_out", each.is_held_out)
      .str();
}

std::string predictionObject(const Prediction& first, const Prediction& each) {
  JsonObject parts;
  parts.json("micro_batches", numberOf(each.seconds.micro_batches))
      .json("batch_norm", numberOf(each.seconds.batch_norm))
      .json("all_reduce", numberOf(each.seconds.all_reduce))
      .json("gateway", numberOf(each.seconds.gateway))
      .json("host_io", numberOf(each.seconds.host_io))
      .json("fixed", numberOf(each.seconds.fixed));
  return placementObject(each.placement)
      .number("domains", each.domains)
      .number("slots", each.slots)
      .json("step", numberOf(each.seconds.all()))
      .json("step_parts", parts.str())
      .json("serial", numberOf(each.serial_s))
      .json("samples_per_s", numberOf(each.samples_per_s))
      .json("ideal_samples_per_s", numberOf(pod::predict::idealSamplesPerS(first, each)))
      .str();
}

}  // namespace

std::string simulationJson(const Simulation& simulation) {
  const std::vector<Prediction>& predictions = simulation.sweep.predictions;
  return JsonObject()
             .json("learned", listOf(simulation.fit.learned, learnedObject))
             .json("runs", listOf(simulation.runs, runObject))
             .json("predictions", listOf(predictions,
                                         [&](const Prediction& each) {
                                           return predictionObject(predictions.front(), each);
                                         }))
             .json("remarks",
                   listOf(simulation.remarks, [](const std::string& remark) { return jsonQuoted(remark); }))
             .str() +
         '\n';
}

}  // namespace pop
