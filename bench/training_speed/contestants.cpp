// SPDX-License-Identifier: Apache-2.0
#include "bench/training_speed/contestants.h"

#include <filesystem>

#include "bench/harness/command.h"

namespace pop::bench {
namespace {

constexpr const char* kPython = "/usr/bin/python3";  // Debian's, which has python3-torch
constexpr std::chrono::seconds kTimeToImport{60};

Trainer exampleWith(const std::string& name, const Model& model, const std::string& isa,
                    const std::string& directory) {
  Trainer trainer{.name = name,
                  .program = {directory + "/fashion_mnist", "--model", model.name},
                  .options = {"--num-replicas", "2"}};
  if (!isa.empty()) {
    trainer.program.insert(trainer.program.end(), {"--isa", isa});
    const Result<RunResult> help = run({.argv = {trainer.program[0], "--isa", isa, "--help"}});
    if (!help.ok() || !help.value().succeeded()) trainer.why_unusable = "this CPU does not have " + isa;
  }
  trainer.program.insert(trainer.program.end(), {"--micro-batch", "64", "--accumulation", "1", "--epochs"});
  return trainer;
}

Trainer ddp(const Model& model) {
  Trainer trainer{.name = std::string(kDdp) + model.suffix,
                  .program = {kPython, "-B", DDP_PROGRAM, "--model", model.name},
                  .options = {}};
  const Result<RunResult> blas =
      run({.argv = {kPython, "-B", DDP_PROGRAM, "--blas"}, .time_limit = kTimeToImport});
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist"))
    trainer.why_unusable = "the package dataset-fashion-mnist is not installed";
  else if (!blas.ok() || !blas.value().succeeded())
    trainer.why_unusable = "the package python3-torch is not installed (scripts/setup --frameworks)";
  else
    trainer.why_unusable = whyBlasIsSlow(blas.value().output);
  return trainer;
}

}  // namespace

std::vector<std::string> trainerNames() {
  std::vector<std::string> names;
  for (const Model& model : kModels)
    for (const char* const contestant : {kExample, kDdp})
      names.push_back(contestant + std::string(model.suffix));
  names.insert(names.end(), {"example-avx2", "example-baseline"});
  return names;
}

std::vector<Trainer> chooseTrainers(const std::vector<std::string>& only, const std::string& directory) {
  const auto chosen = [&](const std::string& name) { return chooses(only, name); };
  std::vector<Trainer> trainers;
  for (const Model& model : kModels) {
    const std::string ours = std::string(kExample) + model.suffix;
    if (chosen(ours)) trainers.push_back(exampleWith(ours, model, "", directory));
    if (chosen(std::string(kDdp) + model.suffix)) trainers.push_back(ddp(model));
  }
  for (const std::string isa : {"avx2", "baseline"}) {
    const std::string name = std::string(kExample) + '-' + isa;
    if (chosen(name)) trainers.push_back(exampleWith(name, kModels[0], isa, directory));
  }
  return trainers;
}

std::string whyBlasIsSlow(const std::string& blas) {
  if (blas.find("openblas") != std::string::npos) return {};
  return "PyTorch computes with the reference BLAS, at a third of its speed: install libopenblas0-pthread "
         "(scripts/setup --frameworks)";
}

}  // namespace pop::bench
