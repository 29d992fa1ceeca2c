// SPDX-License-Identifier: Apache-2.0
// Checkpoints, and what is saved and resumed.
#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "popdist/checkpoint.hpp"
#include "popdist/error.hpp"
#include "popdist/evaluator.hpp"
#include "popdist/trainer.hpp"
#include "tests/differ/row.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::testing {
namespace {

using namespace popdist::train;

/// A directory that all instances of a row share, gone with it.
struct Shared {
  explicit Shared(Context& job) : context(job) {
    if (context.instanceIndex() == 0) {
      made = std::make_unique<pop::testing::TempDir>();
      context.put("directory", made->path());
    }
    context.fence();
    directory = *context.get("directory");
  }
  /// All are done with it.
  ~Shared() {
    try {
      context.fence();
    } catch (const popdist_error&) {  // the row tells
    }
  }

  Context& context;
  std::unique_ptr<pop::testing::TempDir> made;
  std::string directory;
};

/// The state that an instance saves by hand.
struct Saving : Shared {
  explicit Saving(Context& job) : Shared(job), checkpoints(job, {.directory = directory}) {}

  std::vector<Piece> pieces(const char* name = "w") {
    const Piece whole{
        .name = name, .type = Type::kFloat, .shape = {2}, .bytes = std::as_writable_bytes(std::span(values))};
    return shareOf(std::span(&whole, 1), context.instanceIndex(), context.numInstances());
  }

  std::array<float, 2> values{};
  std::uint64_t saved = 0;
  Checkpoints checkpoints;
};

Rows byHand() {
  return {
      {"Checkpoints",
       "keep",
       "3",
       "4",
       {"CheckpointOptions::keep", "3", "4"},
       on<Shared>([](Shared& s, bool differs) {
         const Checkpoints made(s.context, {.directory = s.directory, .keep = differs ? 4 : 3});
       })},
      {"Checkpoints",
       "directory",
       "runs",
       "runs/b",
       {"CheckpointOptions::directory", "/b"},
       on<Shared>([](Shared& s, bool differs) {
         const Checkpoints made(s.context, {.directory = s.directory + (differs ? "/b" : "")});
       })},
      {"Checkpoints", "write_timeout", "5 min", "1 min", {}, on<Shared>([](Shared& s, bool differs) {
         CheckpointOptions options{.directory = s.directory};
         if (differs) options.write_timeout = std::chrono::minutes(1);
         const Checkpoints made(s.context, options);
       })},
      {"Checkpoints.save (heard in the next call)",
       "Position::step",
       "1",
       "2",
       {"step "},
       on<Saving>([](Saving& s, bool differs) {
         s.saved += 10;
         s.checkpoints.save(s.pieces(), {.step = differs ? s.saved + 1 : s.saved});
         s.checkpoints.wait();
       })},
      {"Checkpoints.save (heard in the next call)",
       "pieces",
       "of w",
       "of v",
       {"of the tensor v", "are in no piece"},
       on<Saving>([](Saving& s, bool differs) {
         s.checkpoints.save(s.pieces(differs ? "v" : "w"), {.step = ++s.saved});
         s.checkpoints.wait();
       })},
      {"Checkpoints.save (heard in the next call)",
       "the call",
       "save",
       "resume",
       {"'Checkpoints.save'", "'Checkpoints.resume'"},
       on<Saving>([](Saving& s, bool differs) {
         if (differs)
           s.checkpoints.resume(s.pieces());
         else
           s.checkpoints.save(s.pieces(), {.step = ++s.saved});
         s.checkpoints.wait();
       })},
      {"Checkpoints.save (heard in the next call)",
       "number of calls",
       "1",
       "none",
       {"'Checkpoints.save'", "'Checkpoints.evaluated'"},
       on<Saving>([](Saving& s, bool differs) {
         if (!differs) s.checkpoints.save(s.pieces(), {.step = ++s.saved});
         s.checkpoints.evaluated();
       })},
  };
}

/// A trainer that has run, and its checkpoints.
struct SavedTraining : Shared {
  explicit SavedTraining(Context& job)
      : Shared(job),
        strategy(job),
        trainer(strategy, regression::parameters(), [](const MicroBatch&) {}, sgd(0.1),
                {.metrics = {"loss"}}),
        infeed(regression::feed(job, 2)),
        checkpoints(job, {.directory = directory}) {
    trainer.initialise(1);
    trainer.run(infeed, 2);
  }

  void save() {
    trainer.run(infeed, 1);
    trainer.save(checkpoints, infeed);
    checkpoints.wait();
    context.fence();
  }

  PopDistStrategy strategy;
  Trainer trainer;
  io::Infeed infeed;
  Checkpoints checkpoints;
};

Rows byTrainers() {
  return {
      {"Trainer.save",
       "the call",
       "save",
       "run",
       {"'Trainer.save'", "'Trainer.run'"},
       on<SavedTraining>([](SavedTraining& t, bool differs) {
         t.trainer.run(t.infeed, 1);
         if (differs)
           t.trainer.run(t.infeed, 1);
         else
           t.trainer.save(t.checkpoints, t.infeed);
       })},
      {"Trainer.save",
       "infeed",
       "that of run()",
       "another",
       {"the infeed's position", "step "},
       on<SavedTraining>([](SavedTraining& t, bool differs) {
         t.trainer.run(t.infeed, 1);
         const io::Infeed other = regression::feed(t.context, 2);
         t.trainer.save(t.checkpoints, differs ? other : t.infeed);
       })},
      {"Trainer.resume",
       "ResumeOptions::exactly",
       "true",
       "false",
       {"exactly", "'true'", "'false'"},
       on<SavedTraining>([](SavedTraining& t, bool differs) {
         t.trainer.resume(t.checkpoints, t.infeed, {.exactly = !differs});
       })},
      {"Trainer.resume",
       "infeed",
       "of 2 rows",
       "of 4",
       {"micro-batch", "2", "4"},
       on<SavedTraining>([](SavedTraining& t, bool differs) {
         io::Infeed other = regression::feed(t.context, differs ? 4 : 2);
         t.trainer.resume(t.checkpoints, other);
       })},
      {"Trainer.resume",
       "the call",
       "resume",
       "initialise",
       {"'Trainer.resume'", "'Trainer.initialise'"},
       on<SavedTraining>([](SavedTraining& t, bool differs) {
         if (differs)
           t.trainer.initialise(1);
         else
           t.trainer.resume(t.checkpoints, t.infeed);
       })},
      {"Trainer.load",
       "checkpoint",
       "the newest",
       "the one before",
       {"the checkpoint", "step "},
       on<SavedTraining>([](SavedTraining& t, bool differs) {
         t.save();
         t.save();
         t.trainer.load(Checkpoint::open(t.directory, t.trainer.updates() - (differs ? 1 : 0)));
       })},
  };
}

Rows evaluations() {
  return {
      {"evaluateAll",
       "checkpoints in the directory",
       "2",
       "none",
       {"evaluateAll", "there is no complete checkpoint"},
       on<SavedTraining>([](SavedTraining& t, bool differs) {
         t.save();
         io::Infeed evaluated = regression::feed(t.context, 2);
         evaluateAll(t.trainer, t.directory + (differs ? "/empty" : ""), evaluated);
       })},
      {"trainAndEvaluate",
       "TrainSpec::max_updates",
       "4",
       "5",
       {"max_updates", "'4'", "'5'"},
       on<SavedTraining>([](SavedTraining& t, bool differs) {
         io::Infeed evaluated = regression::feed(t.context, 2);
         trainAndEvaluate(t.trainer, t.checkpoints, {&t.infeed, differs ? 5U : 4U}, {&evaluated, 2}, 1);
       })},
      {"trainAndEvaluate",
       "EvalSpec::every_updates",
       "2",
       "3",
       {"every_updates", "'2'", "'3'"},
       on<SavedTraining>([](SavedTraining& t, bool differs) {
         io::Infeed evaluated = regression::feed(t.context, 2);
         trainAndEvaluate(t.trainer, t.checkpoints, {&t.infeed, 4}, {&evaluated, differs ? 3U : 2U}, 1);
       })},
      {"trainAndEvaluate",
       "the call",
       "trainAndEvaluate",
       "evaluateAll",
       {"trainAndEvaluate", "evaluateAll"},
       on<SavedTraining>([](SavedTraining& t, bool differs) {
         t.save();
         io::Infeed evaluated = regression::feed(t.context, 2);
         if (differs)
           evaluateAll(t.trainer, t.directory, evaluated);
         else
           trainAndEvaluate(t.trainer, t.checkpoints, {&t.infeed, 4}, {&evaluated, 2}, 1);
       })},
  };
}

}  // namespace

Rows checkpointRows() {
  return joined({byHand(), byTrainers(), evaluations()});
}

}  // namespace popdist::testing
