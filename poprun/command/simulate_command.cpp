// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/simulate_command.h"

#include <algorithm>
#include <chrono>

#include "common/base/text.h"
#include "pod/draw/topology_svg.h"
#include "pod/predict/model_file.h"
#include "pod/predict/runs_table.h"
#include "pod/system/system_text.h"
#include "poprun/cli/file_text.h"
#include "poprun/cli/options_doc.h"
#include "poprun/cli/simulate_options.h"
#include "poprun/command/collective_report.h"
#include "poprun/command/command_line.h"
#include "poprun/command/named_systems.h"
#include "poprun/command/replay_report.h"
#include "poprun/command/simulate_report.h"
#include "scaling/row.h"

namespace pop {
namespace {

using cli::SimulateOptions;
using pod::predict::MeasuredRun;
using pod::predict::SystemShape;
using pod::predict::Training;

// A scaling log names no system: each run was on the smallest that holds its replicas.
Result<std::vector<MeasuredRun>> runsOfLog(const std::string& text, const std::string& file,
                                           const Training& training, NamedSystems& pods) {
  POP_ASSIGN_OR_RETURN(const std::vector<scaling::Row> rows, scaling::parseRows(text, file));
  const std::vector<SystemShape> systems = pods.shapesOf(training.chip);
  std::vector<MeasuredRun> runs;
  std::size_t line = 0;
  for (const scaling::Row& row : rows) {
    ++line;
    if (row.updates == 0) continue;
    const auto system = std::find_if(systems.begin(), systems.end(), [&](const SystemShape& each) {
      return each.ipus() >= row.replicas * training.ipus_per_replica;
    });
    if (system == systems.end())
      return invalidArgument(inQuotes(file) + ", run " + std::to_string(line) + ": no Pod has room for " +
                             counted(row.replicas, "replica") + " of " +
                             counted(training.ipus_per_replica, "IPU"));
    runs.push_back({.line = line,
                    .placement = {.system = *system,
                                  .replicas = static_cast<int>(row.replicas),
                                  .micro_batch = row.micro_batch,
                                  .gradient_accumulation = row.accumulation},
                    .step_s = row.seconds.all / static_cast<double>(row.updates)});
  }
  if (runs.empty()) return invalidArgument(inQuotes(file) + " has no run with updates");
  return runs;
}

Result<std::vector<MeasuredRun>> readRuns(const std::string& file, const Training& training,
                                          NamedSystems& pods) {
  POP_ASSIGN_OR_RETURN(const std::string text, cli::readFileText(file));
  if (trimmed(text).starts_with('{')) return runsOfLog(text, file, training, pods);
  return pod::predict::parseRuns(text, file, training,
                                 [&pods](std::string_view name) { return pods.shape(name); });
}

bool isHeldOut(const SimulateOptions& options, const MeasuredRun& run) {
  return std::find(options.hold_out.begin(), options.hold_out.end(), run.placement.system.name) !=
         options.hold_out.end();
}

Status checkHeldOut(const SimulateOptions& options, const std::vector<MeasuredRun>& runs) {
  for (const std::string& name : options.hold_out) {
    const bool is_there = std::any_of(
        runs.begin(), runs.end(), [&](const MeasuredRun& run) { return run.placement.system.name == name; });
    if (!is_there) return invalidArgument("--hold-out: " + inQuotes(options.fit) + " has no run on " + name);
  }
  return {};
}

// Measured runs had GCL's choice of algorithm.
Result<Simulation> learn(const SimulateOptions& options, const Training& training, NamedSystems& pods) {
  POP_ASSIGN_OR_RETURN(const std::vector<MeasuredRun> runs, readRuns(options.fit, training, pods));
  const pod::predict::CommunicationTime all_reduce = pods.allReduceTime(AlgorithmChoice::kGcl);
  POP_RETURN_IF_ERROR(checkHeldOut(options, runs));
  std::vector<MeasuredRun> known;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(known),
               [&](const MeasuredRun& run) { return !isHeldOut(options, run); });
  Result<pod::predict::Fit> fit = pod::predict::fit(training, known, all_reduce);
  if (!fit.ok()) return invalidArgument(inQuotes(options.fit) + ": " + fit.status().message());
  Simulation simulation;
  simulation.fit = std::move(*fit);
  simulation.remarks = simulation.fit.remarks;
  POP_ASSIGN_OR_RETURN(const std::vector<pod::predict::Comparison> comparisons,
                       pod::predict::compare(simulation.fit.training, runs, all_reduce));
  for (const pod::predict::Comparison& each : comparisons)
    simulation.runs.push_back({each, isHeldOut(options, each.measured)});
  return simulation;
}

// Beside each system, it with the changes.
Status addChanged(const SimulateOptions& options, NamedSystems& pods, std::vector<SystemShape>& systems) {
  if (!options.what_if.any()) return {};
  std::vector<SystemShape> both;
  for (SystemShape& system : systems) {
    POP_ASSIGN_OR_RETURN(SystemShape changed, pods.changedShape(system.name, options.what_if));
    both.push_back(std::move(system));
    both.push_back(std::move(changed));
  }
  systems = std::move(both);
  return {};
}

// Asked for by name, a system must be able to run the training; of all systems, those that can are enough.
Status predictAll(const SimulateOptions& options, NamedSystems& pods, Simulation& simulation) {
  const Training& training = simulation.fit.training;
  std::vector<SystemShape> systems;
  for (const std::string& name : options.systems) {
    POP_ASSIGN_OR_RETURN(SystemShape system, pods.shape(name));
    systems.push_back(std::move(system));
  }
  const bool all = systems.empty();
  if (all) systems = pods.shapesOf(training.chip);
  POP_RETURN_IF_ERROR(addChanged(options, pods, systems));
  pod::predict::Wanted wanted{.micro_batch = options.micro_batch,
                              .gradient_accumulation = options.gradient_accumulation,
                              .global_batch = options.global_batch};
  if (options.replicas) wanted.replicas = static_cast<int>(*options.replicas);
  POP_ASSIGN_OR_RETURN(
      simulation.sweep,
      pod::predict::sweep(training, systems, wanted, pods.allReduceTime(choiceOf(options.algorithm))));
  const pod::predict::Sweep& sweep = simulation.sweep;
  if (!all && !sweep.left_out.empty()) return invalidArgument(sweep.left_out.front());
  for (const std::string& each : sweep.left_out) simulation.remarks.push_back("left out " + each);
  const bool crosses = std::any_of(sweep.predictions.begin(), sweep.predictions.end(),
                                   [](const pod::predict::Prediction& each) { return each.domains > 1; });
  if (options.fit.empty() && crosses && !training.gateway_s)
    simulation.remarks.emplace_back(
        "the model has no gateway_time: predictions for several IPU-Link domains leave out what collectives "
        "cost over GW-Links, besides the time on the links themselves");
  return {};
}

// As far as the clock times it, a step is computation and one all-reduce of all gradients.
Status exportStep(const SimulateOptions& options, const Simulation& simulation) {
  const pod::predict::Prediction& prediction = simulation.sweep.predictions.front();
  const pod::predict::StepTime& seconds = prediction.seconds;
  const auto computation = std::chrono::round<std::chrono::microseconds>(
      std::chrono::duration<double>(seconds.all() - seconds.all_reduce));
  const pod::chakra::TracedCollective gradients{.bytes = simulation.fit.training.gradient_bytes,
                                                .element_bytes = kHalfBytes};
  const std::vector<pod::chakra::TraceNode> nodes{
      {.id = 0, .name = "computation", .duration = computation},
      {.id = 1, .name = "gradients", .dependencies = {0}, .collective = gradients}};
  return writeTraces(options.export_chakra, prediction.placement.replicas, nodes);
}

Result<Simulation> simulationOf(const SimulateOptions& options) {
  POP_ASSIGN_OR_RETURN(const std::string text, cli::readFileText(options.model));
  POP_ASSIGN_OR_RETURN(const Training training, pod::predict::parseModel(text, options.model));
  NamedSystems pods;
  Simulation simulation;
  simulation.fit.training = training;
  if (!options.fit.empty()) {
    POP_ASSIGN_OR_RETURN(simulation, learn(options, training, pods));
  }
  POP_RETURN_IF_ERROR(predictAll(options, pods, simulation));
  if (!options.export_chakra.empty()) POP_RETURN_IF_ERROR(exportStep(options, simulation));
  if (!options.export_model.empty())
    POP_RETURN_IF_ERROR(cli::writeFileText(options.export_model, fittedModelText(simulation), false));
  return simulation;
}

std::string textOf(const Simulation& simulation, cli::SimulateForm form) {
  switch (form) {
    case cli::SimulateForm::kJson:
      return simulationJson(simulation);
    case cli::SimulateForm::kSvg:
      return simulationSvg(simulation);
    case cli::SimulateForm::kText:
      break;
  }
  return simulationText(simulation);
}

// As a file, or a picture: with a job's replicas if it says how many or how large they are.
Result<std::string> systemTextOf(const SimulateOptions& options) {
  POP_ASSIGN_OR_RETURN(const pod::PodSpec spec, NamedSystems().find(options.systems.front()));
  POP_ASSIGN_OR_RETURN(const pod::PodSpec changed, pod::changed(spec, options.what_if));
  if (options.form != cli::SimulateForm::kSvg) return pod::systemText(changed);
  if (!options.replicas && !options.ipus_per_replica) return pod::topologySvg(changed);
  POP_ASSIGN_OR_RETURN(const pod::ReplicaLayout layout,
                       layoutOn(changed, options.replicas, options.ipus_per_replica));
  return pod::topologySvg(layout);
}

int printReport(const Result<std::string>& report) {
  return report.ok() ? print(report.value()) : reportMistakes({report.status().message()});
}

}  // namespace

int simulateCommand(const std::vector<std::string>& arguments) {
  const cli::ParsedSimulation parsed = cli::parseSimulateOptions(arguments);
  if (parsed.options.help) return print(cli::simulateHelpText());
  if (!parsed.mistakes.empty()) return reportMistakes(parsed.mistakes);
  if (parsed.options.show_system) return printReport(systemTextOf(parsed.options));
  if (!parsed.options.collective_size.empty()) return printReport(collectiveReport(parsed.options));
  if (!parsed.options.replay.empty()) return printReport(replayReport(parsed.options));
  const Result<Simulation> simulation = simulationOf(parsed.options);
  if (!simulation.ok()) return reportMistakes({simulation.status().message()});
  return print(textOf(simulation.value(), parsed.options.form));
}

}  // namespace pop
