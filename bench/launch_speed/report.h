// SPDX-License-Identifier: Apache-2.0
// Figures and goals as tables for people and as JSON lines for programs.
#pragma once

#include <string>
#include <vector>

#include "bench/harness/json_line.h"
#include "bench/launch_speed/figures.h"
#include "bench/launch_speed/goals.h"

namespace pop::bench {

JsonLine toJson(const TimeFigure& figure);
/// "3.14", with marks: ~ most runs began on a busy machine, h hung, f failed.
std::string cellOf(const TimeFigure& figure);
/// The meaning of the marks in tables.
inline constexpr const char* kLegend =
    "~: most of the runs did not begin on a quiet machine. hK, fK: K runs hung, failed. -: no run ended "
    "well.\n";

std::vector<JsonLine> toJson(const Figures& figures, const std::vector<Goal>& goals);
std::string inWords(const Figures& figures, const std::vector<Goal>& goals);

}  // namespace pop::bench
