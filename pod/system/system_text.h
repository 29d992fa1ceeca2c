// SPDX-License-Identifier: Apache-2.0
// A system as text that anybody can write: a preset or a shape with other rates and costs, or each link by
// itself. docs/reference/system_files.md has the words. A ';' ends a line, too.
#pragma once

#include <string>
#include <string_view>

#include "pod/system/pod_spec.h"

namespace pop::pod {

/// `file` is for messages. kInvalidArgument, as "FILE:LINE: …", for a word that is not known, a value out of
/// its range or without its unit, a word that comes twice, a node that no line says, a rate of 0, or a wiring
/// that does not reach all IPUs. The text may be hostile; its system has at most 65,536 IPUs, and 4,096
/// if it lists their links.
Result<PodSpec> systemFromText(std::string_view text, std::string_view file);

/// The text of a system: systemFromText() makes the same of it.
std::string systemText(const PodSpec& spec);
/// The same on one line, as a job carries it.
std::string systemLine(const PodSpec& spec);

/// The node of "ipu5", "gw0", "sw1"; kInvalidArgument if the system has none of that name.
Result<int> nodeNamed(const PodSpec& spec, std::string_view name);
std::string nodeName(const PodSpec& spec, int node);

}  // namespace pop::pod
