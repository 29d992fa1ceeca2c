// SPDX-License-Identifier: Apache-2.0
#include "scaling/analysis.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "common/base/text.h"
#include "scaling/figures.h"

namespace pop::scaling {
namespace {

constexpr double kNoise = 0.1;        // runs of one configuration differ by as much
constexpr double kNegligible = 0.01;  // share of the whole

auto keyOf(const Configuration& c) {
  return std::tuple(c.micro_batch, c.replicas, c.instances, c.accumulation);
}

void add(const Row& row, Configuration& to) {
  const double samples = static_cast<double>(row.updates) * to.batch();
  const double speed = samples / row.seconds.all;
  to.slowest = to.runs == 0 ? speed : std::min(to.slowest, speed);
  to.quickest = std::max(to.quickest, speed);
  ++to.runs;
  to.updates += static_cast<double>(row.updates);
  for (double Seconds::*const part : {&Seconds::all, &Seconds::input, &Seconds::step, &Seconds::reduction,
                                      &Seconds::update, &Seconds::constant})
    to.seconds.*part += row.seconds.*part;
  for (double Outside::*const part : {&Outside::start, &Outside::checkpoints, &Outside::evaluations})
    to.outside.*part += row.outside.*part;
  for (double OnPod::*const part : {&OnPod::collectives, &OnPod::all_reduce_estimate})
    to.pod.*part += row.pod.*part;
}

std::vector<Configuration> configurationsOf(const std::vector<Row>& rows) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, Configuration> found;
  for (const Row& row : rows) {
    if (row.updates == 0) continue;
    const Configuration key{.replicas = row.replicas,
                            .instances = row.instances,
                            .micro_batch = row.micro_batch,
                            .accumulation = row.accumulation};
    add(row, found.try_emplace(keyOf(key), key).first->second);
  }
  std::vector<Configuration> all;
  for (const auto& [key, configuration] : found) all.push_back(configuration);
  return all;
}

std::string textOf(const Configuration& c) {
  return counted(c.replicas, "replica") + ", " + counted(c.instances, "instance") + ", micro-batch " +
         std::to_string(c.micro_batch) + ", accumulation " + std::to_string(c.accumulation);
}

// The value that has the most different numbers of replicas, then the most runs, then the largest itself.
std::int64_t mostUsed(const std::vector<const Configuration*>& among, std::int64_t Configuration::*value) {
  std::map<std::int64_t, std::pair<std::set<std::int64_t>, int>> uses;
  for (const Configuration* each : among) {
    uses[each->*value].first.insert(each->replicas);
    uses[each->*value].second += each->runs;
  }
  const auto weight = [](const auto& use) {
    return std::tuple(use.second.first.size(), use.second.second, use.first);
  };
  return std::max_element(uses.begin(), uses.end(),
                          [&](const auto& a, const auto& b) { return weight(a) < weight(b); })
      ->first;
}

// The quickest configuration for each number of replicas, with the same accumulation where there is one.
std::vector<Configuration> onePerReplicas(const std::vector<const Configuration*>& among) {
  const std::int64_t accumulation = mostUsed(among, &Configuration::accumulation);
  std::map<std::int64_t, Configuration> best;
  const auto rank = [&](const Configuration& c) {
    return std::pair(c.accumulation == accumulation, c.samplesPerSecond());
  };
  for (const Configuration* each : among) {
    const auto [found, is_new] = best.try_emplace(each->replicas, *each);
    if (!is_new && rank(found->second) < rank(*each)) found->second = *each;
  }
  std::vector<Configuration> result;
  for (const auto& [replicas, configuration] : best) result.push_back(configuration);
  return result;
}

FittedConstants constantsOf(const Configuration& of, const std::vector<const Configuration*>& among,
                            std::vector<std::string>& remarks) {
  std::vector<UpdateTime> times;
  for (const Configuration* each : among) {
    if (each->replicas == of.replicas && each->instances == of.instances)
      times.push_back({static_cast<double>(each->accumulation),
                       each->perUpdate(each->seconds.all - each->seconds.input)});
  }
  if (const std::optional<Constants> fit = fitConstants(times)) return {*fit, true};
  if (times.size() > 1)
    remarks.push_back(
        "The runs of " + counted(of.replicas, "replica") +
        " with different accumulations contradict each other (an update with more micro-batches "
        "should take longer, in proportion): their parts are used as they were measured.");
  const double step = of.perUpdate(of.seconds.step);
  const double rest = of.perUpdate(of.seconds.all - of.seconds.input - of.seconds.step);
  return {{step / static_cast<double>(of.accumulation), std::max(rest, 0.0)}, false};
}

std::vector<Point> pointsOf(const std::vector<const Configuration*>& among,
                            std::vector<std::string>& remarks) {
  std::vector<Point> points;
  for (const Configuration& each : onePerReplicas(among))
    points.push_back({.measured = each, .own = constantsOf(each, among, remarks)});
  const Configuration& first = points.front().measured;
  const Constants base = points.front().own.constants;
  for (Point& point : points) {
    const Configuration& measured = point.measured;
    Constants ideal = base;
    // An all-reduce sends the tensor twice, however many replicas there are; one replica sends nothing.
    if (first.replicas == 1 && measured.replicas > 1)
      ideal.exchange_s = std::max(base.exchange_s, points[1].own.constants.exchange_s);
    point.theoretical =
        throughput(ideal, static_cast<double>(measured.replicas), static_cast<double>(measured.micro_batch),
                   static_cast<double>(measured.accumulation));
    point.linear = first.samplesPerSecond() * static_cast<double>(measured.replicas) /
                   static_cast<double>(first.replicas);
    point.efficiency = measured.samplesPerSecond() / point.linear;
  }
  return points;
}

double secondsOf(Component component, const Configuration& c) {
  const double samples = c.updates * c.batch();
  switch (component) {
    case Component::kInput:
      return c.seconds.input / samples;
    case Component::kStep:
      return c.seconds.step / samples;
    case Component::kReduction:
      return c.seconds.reduction / samples;
    case Component::kUpdate:
      return c.seconds.update / samples;
    case Component::kLoop:
      return c.loop() / samples;
    case Component::kConstant:
      break;
  }
  return c.seconds.constant / c.runs;
}

// The nearest of 1/R, 1 and R.
Growth growthOf(double before, double after, double factor, double whole_before, double whole_after) {
  if (before <= kNegligible * whole_before && after <= kNegligible * whole_after) return Growth::kNothing;
  if (!(before > 0)) return Growth::kGrows;
  if (!(after > 0)) return Growth::kScales;
  const double power = std::log(after / before) / std::log(factor);
  if (power < -0.5) return Growth::kScales;
  return power > 0.5 ? Growth::kGrows : Growth::kConstant;
}

std::vector<Change> changesOf(const Configuration& few, const Configuration& many) {
  const double factor = static_cast<double>(many.replicas) / static_cast<double>(few.replicas);
  std::vector<Change> changes;
  for (const Component component : {Component::kInput, Component::kStep, Component::kReduction,
                                    Component::kUpdate, Component::kLoop, Component::kConstant}) {
    const bool of_a_run = component == Component::kConstant;
    const auto whole = [&](const Configuration& c) {
      return of_a_run ? (c.seconds.all + c.seconds.constant) / c.runs : c.secondsPerSample();
    };
    const double before = secondsOf(component, few);
    const double after = secondsOf(component, many);
    changes.push_back({component, before, after, growthOf(before, after, factor, whole(few), whole(many))});
  }
  return changes;
}

Laws lawsOf(const std::vector<Point>& points) {
  std::vector<SampleTime> times;
  for (const Point& point : points)
    times.push_back({static_cast<double>(point.measured.replicas), point.measured.secondsPerSample()});
  const Configuration& few = points.front().measured;
  const Configuration& many = points.back().measured;
  return {.factor = static_cast<double>(many.replicas) / static_cast<double>(few.replicas),
          .constant_share = fitConstantShare(times).value_or(0),
          .measured_speedup = many.samplesPerSecond() / few.samplesPerSecond()};
}

std::vector<Outlook> outlookOf(const Point& most) {
  std::vector<Outlook> outlook;
  const Configuration& now = most.measured;
  const auto micro_batch = static_cast<double>(now.micro_batch);
  const auto accumulation = static_cast<double>(now.accumulation);
  for (const std::int64_t factor : {1, 2, 4}) {
    const auto replicas = static_cast<double>(now.replicas * factor);
    Outlook next{.replicas = now.replicas * factor,
                 .growing = throughput(most.own.constants, replicas, micro_batch, accumulation)};
    if (now.accumulation % factor == 0)
      next.kept =
          throughput(most.own.constants, replicas, micro_batch, accumulation / static_cast<double>(factor));
    outlook.push_back(next);
  }
  return outlook;
}

void remarkOnRuns(Analysis& analysis) {
  for (const Configuration& each : analysis.configurations) {
    if (each.quickest > (1 + kNoise) * each.slowest)
      analysis.remarks.push_back(counted(each.runs, "run") + " of " + textOf(each) + " give " +
                                 figure(each.slowest) + " to " + figure(each.quickest) +
                                 " samples/s: something else disturbed the machine, or they are too short.");
  }
}

}  // namespace

double Configuration::loop() const {
  return std::max(0.0, seconds.all - seconds.input - seconds.step - seconds.reduction - seconds.update);
}

const char* nameOf(Component component) {
  switch (component) {
    case Component::kInput:
      return "input";
    case Component::kStep:
      return "step";
    case Component::kReduction:
      return "reduction";
    case Component::kUpdate:
      return "update";
    case Component::kLoop:
      return "loop";
    case Component::kConstant:
      break;
  }
  return "constant";
}

const char* nameOf(Growth growth) {
  switch (growth) {
    case Growth::kNothing:
      return "negligible";
    case Growth::kScales:
      return "scales";
    case Growth::kConstant:
      return "constant";
    case Growth::kGrows:
      break;
  }
  return "grows";
}

Analysis analyse(const std::vector<Row>& rows) {
  Analysis analysis;
  analysis.configurations = configurationsOf(rows);
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(analysis.without_updates),
               [](const Row& row) { return row.updates == 0; });
  remarkOnRuns(analysis);
  if (analysis.configurations.empty()) return analysis;
  std::vector<const Configuration*> among;
  for (const Configuration& each : analysis.configurations) among.push_back(&each);
  const std::int64_t micro_batch = mostUsed(among, &Configuration::micro_batch);
  const auto others =
      std::erase_if(among, [&](const auto* each) { return each->micro_batch != micro_batch; });
  if (others > 0)
    analysis.remarks.push_back("Replicas are compared by the runs with micro-batch " +
                               std::to_string(micro_batch) + "; the others are in the first table only.");
  analysis.points = pointsOf(among, analysis.remarks);
  analysis.outlook = outlookOf(analysis.points.back());
  if (analysis.points.size() < 2) return analysis;
  analysis.changes = changesOf(analysis.points.front().measured, analysis.points.back().measured);
  analysis.laws = lawsOf(analysis.points);
  return analysis;
}

}  // namespace pop::scaling
