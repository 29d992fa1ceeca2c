// SPDX-License-Identifier: Apache-2.0
// Options that several programs have.
#pragma once

#include <optional>
#include <popdist/popdist.hpp>

#include "command_line.h"
#include "isa.h"

/// --schedule: grouped, interleaved or sequential.
void addSchedule(CommandLine& line, popdist::train::ScheduleKind& schedule);

/// --isa: one that this CPU has.
void addIsa(CommandLine& line, std::optional<Isa>& isa);
