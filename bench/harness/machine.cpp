// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/machine.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "bench/harness/table.h"
#include "common/base/text.h"
#include "common/sys/fd.h"

namespace pop::bench {
namespace {

std::string cpuModel() {
  const Result<std::string> info = sys::readFile("/proc/cpuinfo");
  if (!info.ok()) return "unknown CPU";
  std::istringstream lines(info.value());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("model name") && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  }
  return "unknown CPU";
}

int usableCores() {
  cpu_set_t cores;
  return ::sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

}  // namespace

Machine describeMachine() {
  Machine machine{.cpu_model = cpuModel(), .cores = usableCores()};
  utsname names{};
  if (::uname(&names) == 0) machine.kernel = std::string(names.sysname) + ' ' + names.release;
  machine.memory_gb =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e9;
  std::array<double, 1> load{};
  if (::getloadavg(load.data(), 1) == 1) machine.load_average_1_min = load[0];
  return machine;
}

JsonLine toJson(const Machine& machine) {
  return JsonLine("machine")
      .add("cpu_model", machine.cpu_model)
      .add("cores", machine.cores)
      .add("memory_gb", machine.memory_gb)
      .add("kernel", machine.kernel)
      .add("load_average_1_min", machine.load_average_1_min);
}

std::string inWords(const Machine& machine) {
  return machine.cpu_model + ", " + counted(machine.cores, "core") + ", " + fixed(machine.memory_gb, 0) +
         " GB, " + machine.kernel + ", load average " + fixed(machine.load_average_1_min, 2);
}

double CpuTimes::idleFraction() const {
  const std::int64_t all = busy + idle + steal;
  return all <= 0 ? 1.0 : static_cast<double>(idle) / static_cast<double>(all);
}

Result<CpuTimes> parseCpuTimes(std::string_view proc_stat) {
  // "cpu user nice system idle iowait irq softirq steal …": proc(5); guest time is part of user.
  std::istringstream words{std::string(proc_stat)};
  std::string name;
  std::array<std::int64_t, 8> ticks{};
  words >> name;
  for (std::int64_t& value : ticks) words >> value;
  if (!words || name != "cpu") return internalError("/proc/stat does not begin with the times of all CPUs");
  const auto [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
  return CpuTimes{.busy = user + nice + system + irq + softirq, .idle = idle + iowait, .steal = steal};
}

CpuTimes readCpuTimes() {
  const Result<std::string> text = sys::readFile("/proc/stat");
  if (!text.ok()) return {};
  const Result<CpuTimes> times = parseCpuTimes(text.value());
  return times.ok() ? times.value() : CpuTimes{};
}

}  // namespace pop::bench
