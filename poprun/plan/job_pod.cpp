// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/job_pod.h"

#include "pod/system/job_system.h"
#include "pod/system/replica_layout.h"
#include "pod/system/system_text.h"

namespace pop {
namespace {

struct NamedPod {
  pod::PodSpec spec;
  std::string system;  ///< JobSpec::system
};

// The text of a file travels with the job: other hosts need not have it.
Result<NamedPod> podOfFile(const std::string& path, const Surroundings& here) {
  POP_ASSIGN_OR_RETURN(const std::string text, here.file(path));
  POP_ASSIGN_OR_RETURN(pod::PodSpec spec, pod::systemFromText(text, path));
  std::string system = pod::systemLine(spec);
  POP_RETURN_IF_ERROR(pod::jobSystem(system, path, 1).status());  // not too long
  return NamedPod{std::move(spec), std::move(system)};
}

Result<NamedPod> podNamed(const std::string& name, const Surroundings& here) {
  if (pod::isSystemFile(name)) return podOfFile(name, here);
  POP_ASSIGN_OR_RETURN(pod::PodSpec preset, pod::podSpecByName(name));
  const std::string system = preset.name;
  return NamedPod{std::move(preset), system};
}

// It must hold the replicas.
void takeNamed(const std::string& name, const Surroundings& here, BuiltJob& built) {
  Result<NamedPod> pod = podNamed(name, here);
  if (!pod.ok()) {
    built.mistakes.push_back("--system: " + pod.status().message());
    return;
  }
  const Status fits = pod::validate({pod->spec, built.spec.num_replicas, built.spec.ipus_per_replica});
  if (!fits.ok()) built.mistakes.push_back("--system " + pod->spec.name + ": " + fits.message());
  built.spec.system = std::move(pod->system);
}

// The partition is the job's Pod then, which whoever gets it knows.
bool isInPartition(const Options& options, const model::JobSpec& spec) {
  return options.controller.server.empty() ? needsPartition(options, spec) : !spec.partition.name.empty();
}

// A job that uses no Pod may have more instances than any Pod has IPUs, so it is not a mistake here if none
// is large enough: only attaching to it fails.
void takeSmallest(BuiltJob& built) {
  const Result<pod::PodSpec> pod = pod::smallestPodFor(model::partitionIpus(built.spec));
  if (pod.ok()) built.spec.system = pod.value().name;
}

}  // namespace

void setPod(const Options& options, const Surroundings& here, BuiltJob& built) {
  if (!options.system.empty()) return takeNamed(options.system, here, built);
  if (!isInPartition(options, built.spec)) takeSmallest(built);
}

}  // namespace pop
