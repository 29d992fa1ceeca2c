// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/simulate_report.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/base/text.h"
#include "pod/predict/model_file.h"
#include "scaling/chart.h"
#include "scaling/figures.h"

namespace pop {
namespace {

using pod::predict::Comparison;
using pod::predict::LearnedTime;
using pod::predict::Placement;
using pod::predict::Prediction;
using pod::predict::StepTime;
using scaling::figure;
using scaling::percentText;
using scaling::timeText;
using TableRows = std::vector<std::vector<std::string>>;

// "+1.5 %"
std::string errorText(double error) {
  const double tenths = std::round(1000 * error) / 10;
  return (tenths > 0 ? "+" : "") + numberText(tenths == 0 ? 0 : tenths) + " %";
}

std::string learnedTable(const Simulation& simulation) {
  if (simulation.fit.learned.empty()) return {};
  TableRows rows{{"time", "learned", "from"}};
  for (const LearnedTime& time : simulation.fit.learned)
    rows.push_back({time.key, timeText(time.seconds), time.rests_on});
  return "## What the runs say\n\n" + scaling::tableOf(rows, true) + '\n';
}

// "0.9 %, of those held out 1.9 %"
std::string largestError(const Simulation& simulation) {
  double learned = 0;
  std::optional<double> held_out;
  for (const RunBesidePrediction& each : simulation.runs) {
    const double error = std::abs(each.run.error());
    if (each.is_held_out)
      held_out = std::max(held_out.value_or(0), error);
    else
      learned = std::max(learned, error);
  }
  return numberText(std::round(1000 * learned) / 10) + " %" +
         (held_out ? ", of those held out " + numberText(std::round(1000 * *held_out) / 10) + " %" : "");
}

std::string runsTable(const Simulation& simulation) {
  if (simulation.runs.empty()) return {};
  TableRows rows{{"system", "line", "replicas", "micro-batch", "accumulation", "slots", "measured",
                  "predicted", "error", "use"}};
  for (const RunBesidePrediction& each : simulation.runs) {
    const auto& [measured, predicted] = each.run;
    const Placement& placement = measured.placement;
    rows.push_back({placement.system.name, std::to_string(measured.line), std::to_string(placement.replicas),
                    std::to_string(placement.micro_batch), std::to_string(placement.gradient_accumulation),
                    std::to_string(predicted.slots), timeText(measured.step_s),
                    timeText(predicted.seconds.all()), errorText(each.run.error()),
                    each.is_held_out ? "held out" : "learned"});
  }
  return "## Measured runs, and their prediction\n\n" + scaling::tableOf(rows, true) +
         "\nLargest error: " + largestError(simulation) + ".\n\n";
}

std::string predictionTable(const std::vector<Prediction>& predictions) {
  TableRows rows{{"system", "domains", "replicas", "micro-batch", "accumulation", "slots", "step",
                  "samples/s", "ideal", "efficiency"}};
  for (const Prediction& each : predictions) {
    const double ideal = pod::predict::idealSamplesPerS(predictions.front(), each);
    rows.push_back({each.placement.system.name, std::to_string(each.domains),
                    std::to_string(each.placement.replicas), std::to_string(each.placement.micro_batch),
                    std::to_string(each.placement.gradient_accumulation), std::to_string(each.slots),
                    timeText(each.seconds.all()), figure(each.samples_per_s), figure(ideal),
                    percentText(each.samples_per_s / ideal)});
  }
  return "## Prediction\n\n" + scaling::tableOf(rows, true) +
         "\nIdeal: the first system's throughput, times as many replicas.\n";
}

std::string partsTable(const std::vector<Prediction>& predictions) {
  TableRows rows{{"system", "micro-batches", "batch norm", "all-reduce", "GW-Links", "host I/O", "fixed",
                  "serial", "at most"}};
  for (const Prediction& each : predictions) {
    const StepTime& seconds = each.seconds;
    const double share = each.serial_s / seconds.all();
    rows.push_back({each.placement.system.name, timeText(seconds.micro_batches), timeText(seconds.batch_norm),
                    timeText(seconds.all_reduce), timeText(seconds.gateway), timeText(seconds.host_io),
                    timeText(seconds.fixed), percentText(share), figure(1 / share) + 'x'});
  }
  return "\n## Where the time of a step goes\n\n" + scaling::tableOf(rows, true) +
         "\nSerial: the part that more replicas for the same batch do not shorten, filling and draining of "
         "a\n"
         "pipeline included. At most: as much faster could they make a step (Amdahl's law).\n";
}

}  // namespace

std::string simulationText(const Simulation& simulation) {
  std::string text = learnedTable(simulation) + runsTable(simulation) +
                     predictionTable(simulation.sweep.predictions) + partsTable(simulation.sweep.predictions);
  if (!simulation.remarks.empty()) text += "\n## Remarks\n\n";
  for (const std::string& remark : simulation.remarks) text += "- " + remark + '\n';
  return text;
}

std::string simulationSvg(const Simulation& simulation) {
  scaling::Curve ideal{"ideal", scaling::kLinear, {}};
  scaling::Curve predicted{"predicted", scaling::kTheoretical, {}};
  scaling::Curve again{"predicted for the same run", {"again", false, true, false}, {}};
  scaling::Curve measured{"measured", {"measured", false, true, true}, {}};
  const std::vector<Prediction>& predictions = simulation.sweep.predictions;
  for (const Prediction& each : predictions) {
    const std::int64_t replicas = each.placement.replicas;
    ideal.points.push_back({replicas, pod::predict::idealSamplesPerS(predictions.front(), each)});
    predicted.points.push_back({replicas, each.samples_per_s});
  }
  for (const RunBesidePrediction& each : simulation.runs) {
    const auto& [run, prediction] = each.run;
    const std::int64_t replicas = run.placement.replicas;
    again.points.push_back({replicas, prediction.samples_per_s});
    measured.points.push_back({replicas, prediction.samples_per_s * prediction.seconds.all() / run.step_s});
  }
  std::vector<scaling::Curve> curves{ideal, predicted};
  if (measured.points.empty())
    curves.back().look = {scaling::kTheoretical.style, true, true, true};
  else
    curves.insert(curves.end(), {again, measured});
  return scaling::throughputChart(curves);
}

std::string fittedModelText(const Simulation& simulation) {
  std::string text = "# Learned by poprun simulate --fit:\n";
  for (const LearnedTime& time : simulation.fit.learned)
    text += "#   " + time.key + " from " + time.rests_on + '\n';
  for (const RunBesidePrediction& each : simulation.runs) {
    text += "#   " + each.run.measured.placement.system.name + ", " +
            std::to_string(each.run.measured.placement.replicas) + " replicas: a step is predicted " +
            errorText(each.run.error()) + (each.is_held_out ? ", held out\n" : "\n");
  }
  return text + pod::predict::modelText(simulation.fit.training);
}

}  // namespace pop
