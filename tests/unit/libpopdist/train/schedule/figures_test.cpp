// SPDX-License-Identifier: Apache-2.0
// The pictures of the guide, docs/guide/pipelines.md, are what svg() draws today. With POP_UPDATE_FIGURES=1
// in the environment the test writes them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

#include "common/sys/fd.h"
#include "popdist/error.hpp"
#include "popdist/schedule.hpp"

namespace popdist::train {
namespace {

struct Figure {
  std::string file;
  ScheduleOptions schedule;
  SvgOptions drawing;
};

constexpr SimulatedTime kForward{1000};

Simulation simulated(const Schedule& schedule) {
  return simulate(schedule, {.stages = {{kForward, kForward}}, .update = kForward});
}

Figure ofKind(const std::string& file, ScheduleKind kind, int count, const std::string& title) {
  return {file,
          {.levels = chain(4),
           .device_mapping = {0, 1, 2, 3},
           .gradient_accumulation_count = count,
           .kind = kind},
          {.title = title}};
}

Figure ofStages(const std::string& file, std::vector<int> levels, DeviceMapping mapping,
                std::vector<std::string> names, const std::string& title) {
  ScheduleOptions options{.levels = std::move(levels),
                          .device_mapping = std::move(mapping),
                          .gradient_accumulation_count = 8,
                          .training = false,
                          .count_rule = CountRule::kPopart};
  return {file,
          std::move(options),
          {.title = title, .stage_names = std::move(names), .colour_by_micro_batch = true}};
}

std::vector<Figure> figures() {
  const std::vector<std::string> names = {"A", "B", "C0", "C1", "C2", "C3", "D"};
  const DeviceMapping wide = {0, 1, {0, 1, 2, 3}, 3};
  return {
      ofKind("grouped", ScheduleKind::kGrouped, 16, "Grouped: 4 stages, 16 micro-batches"),
      ofKind("interleaved", ScheduleKind::kInterleaved, 12, "Interleaved: 4 stages, 12 micro-batches"),
      ofKind("sequential", ScheduleKind::kSequential, 3, "Sequential: 4 stages, 3 micro-batches"),
      ofStages("concurrent", {1, 1, 4, 1}, wide, names, "C0 to C3 side by side: a way of 4 timesteps"),
      ofStages("one_by_one", chain(7), {0, 1, 0, 1, 2, 3, 3}, names,
               "The same one by one: a way of 7 timesteps"),
  };
}

TEST(ScheduleFigures, InTheGuideAreThoseOfToday) {
  for (const Figure& figure : figures()) {
    const Schedule schedule(figure.schedule);
    const std::string path = POP_SOURCE_DIR "/docs/guide/pipeline_" + figure.file + ".svg";
    if (std::getenv("POP_UPDATE_FIGURES") != nullptr)
      writeSvg(schedule, simulated(schedule), path, figure.drawing);
    const auto text = pop::sys::readFile(path);
    ASSERT_TRUE(text.ok()) << text.status().message();
    EXPECT_EQ(text.value(), svg(schedule, simulated(schedule), figure.drawing))
        << path << " is not what svg() draws: run this test with POP_UPDATE_FIGURES=1, and look at it";
  }
}

// Left edges and widths of the boxes, in their order: the simulated times, to scale.
TEST(ScheduleFigures, AreToScale) {
  const Figure figure = figures()[0];
  const Schedule schedule(figure.schedule);
  const Simulation simulation = simulated(schedule);
  const std::string text = svg(schedule, simulation, figure.drawing);
  const std::regex box(
      "<rect x=\"([0-9.]+)\" y=\"[0-9.]+\" width=\"([0-9.]+)\" height=\"34\" class=\"[FBU]\"");
  std::vector<std::pair<double, double>> boxes;
  for (std::sregex_iterator found(text.begin(), text.end(), box); found != std::sregex_iterator(); ++found)
    boxes.emplace_back(std::stod(found->str(1)), std::stod(found->str(2)));
  ASSERT_EQ(boxes.size(), simulation.actions.size());
  const double left = boxes.front().first;
  const double scale =
      (boxes.back().first - left) / static_cast<double>(simulation.actions.back().start.count());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const TimedAction& timed = simulation.actions[i];
    EXPECT_NEAR(boxes[i].first - left, scale * static_cast<double>(timed.start.count()), 0.21);
    EXPECT_NEAR(boxes[i].second + 1, scale * static_cast<double>((timed.end - timed.start).count()), 0.21);
  }
}

TEST(ScheduleFigures, NamesAreText) {
  const Schedule schedule({.levels = chain(2), .gradient_accumulation_count = 4});
  const std::string text = svg(schedule, simulate(schedule, {.stages = {{}}}), {.title = "a < b & \"c\""});
  EXPECT_NE(text.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
}

TEST(ScheduleFigures, FilesThatCannotBeWrittenAreNamed) {
  const Schedule schedule({.levels = chain(2), .gradient_accumulation_count = 4});
  try {
    writeSvg(schedule, simulate(schedule, {.stages = {{}}}), "/nonexistent/x.svg");
    ADD_FAILURE();
  } catch (const popdist_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/x.svg"), std::string::npos);
  }
}

}  // namespace
}  // namespace popdist::train
