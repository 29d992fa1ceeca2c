// SPDX-License-Identifier: Apache-2.0
// Checkpoints, and what is saved and resumed.
#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "popdist/checkpoint.hpp"
#include "popdist/error.hpp"
#include "popdist/trainer.hpp"
#include "tests/differ/row.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::testing {
namespace {

using namespace popdist::train;

/// A directory that all instances of a row share, gone with it.
struct Shared {
  explicit Shared(Context& context) : context_(context) {
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
      context_.fence();
    } catch (const popdist_error&) {  // the row tells
    }
  }

  Context& context_;
  std::unique_ptr<pop::testing::TempDir> made;
  std::string directory;
};

Row checkpoints(std::string call, std::string argument, std::string others, std::string one,
                std::vector<std::string> named,
                const std::function<void(Context&, const std::string&, bool)>& body) {
  return {.call = std::move(call),
          .argument = std::move(argument),
          .others = std::move(others),
          .one = std::move(one),
          .named = std::move(named),
          .run = [body](Context& context, bool differs) {
            const Shared shared(context);
            body(context, shared.directory, differs);
          }};
}

/// What an instance saves.
struct Part {
  float value = 0;

  std::vector<Piece> pieces(Context& context) {
    const Piece whole{.name = "w",
                      .type = Type::kFloat,
                      .shape = {1},
                      .bytes = std::as_writable_bytes(std::span(&value, 1))};
    return shareOf(std::span(&whole, 1), context.instanceIndex(), context.numInstances());
  }
};

Rows byHand() {
  return {
      checkpoints("Checkpoints", "keep", "3", "4", {"CheckpointOptions::keep", "3", "4"},
                  [](Context& context, const std::string& directory, bool differs) {
                    const Checkpoints made(context, {.directory = directory, .keep = differs ? 4 : 3});
                  }),
      checkpoints("Checkpoints", "write_timeout", "5 min", "1 min", {},
                  [](Context& context, const std::string& directory, bool differs) {
                    CheckpointOptions options{.directory = directory};
                    if (differs) options.write_timeout = std::chrono::minutes(1);
                    const Checkpoints made(context, options);
                  }),
      checkpoints("Checkpoints.save (heard in the next call)", "Position::step", "1", "2",
                  {"step 1", "step 2"},
                  [](Context& context, const std::string& directory, bool differs) {
                    Checkpoints made(context, {.directory = directory});
                    Part part;
                    made.save(part.pieces(context), {.step = differs ? 2U : 1U});
                    made.wait();
                  }),
      checkpoints("Checkpoints.save (heard in the next call)", "the call", "save", "resume",
                  {"'Checkpoints.save'", "'Checkpoints.resume'"},
                  [](Context& context, const std::string& directory, bool differs) {
                    Checkpoints made(context, {.directory = directory});
                    Part part;
                    if (differs)
                      made.resume(part.pieces(context));
                    else
                      made.save(part.pieces(context), {.step = 1});
                    made.wait();
                  }),
  };
}

/// A trainer that has run, and its checkpoints.
struct DataTraining {
  DataTraining(Context& job, const std::string& directory)
      : context(job),
        strategy(job),
        trainer(strategy, regression::parameters(), [](const MicroBatch&) {}, sgd(0.1),
                {.metrics = {"loss"}}),
        infeed(regression::feed(job, 2)),
        checkpoints(job, {.directory = directory}) {
    trainer.initialise(1);
    trainer.run(infeed, 2);
  }

  Context& context;
  PopDistStrategy strategy;
  Trainer trainer;
  io::Infeed infeed;
  Checkpoints checkpoints;
};

Row saved(std::string call, std::string argument, std::string others, std::string one,
          std::vector<std::string> named, const std::function<void(DataTraining&, bool)>& body) {
  return checkpoints(std::move(call), std::move(argument), std::move(others), std::move(one),
                     std::move(named), [body](Context& context, const std::string& directory, bool differs) {
                       DataTraining training(context, directory);
                       body(training, differs);
                     });
}

Rows byTrainers() {
  return {
      saved("Trainer.save", "the call", "save", "run", {"'Trainer.save'", "'Trainer.run'"},
            [](DataTraining& t, bool differs) {
              if (differs)
                t.trainer.run(t.infeed, 1);
              else
                t.trainer.save(t.checkpoints, t.infeed);
            }),
      saved("Trainer.save", "infeed", "that of run()", "another",
            {"the infeed's position", "step 2", "step 0"},
            [](DataTraining& t, bool differs) {
              const io::Infeed other = regression::feed(t.context, 2);
              t.trainer.save(t.checkpoints, differs ? other : t.infeed);
            }),
      saved("Trainer.resume", "ResumeOptions::exactly", "true", "false", {"exactly", "'true'", "'false'"},
            [](DataTraining& t, bool differs) {
              t.trainer.resume(t.checkpoints, t.infeed, {.exactly = !differs});
            }),
      saved("Trainer.resume", "infeed", "of 2 rows", "of 4", {"micro-batch", "2", "4"},
            [](DataTraining& t, bool differs) {
              io::Infeed other = regression::feed(t.context, differs ? 4 : 2);
              t.trainer.resume(t.checkpoints, other);
            }),
      saved("Trainer.load", "checkpoint", "of step 2", "of step 3", {"the checkpoint", "step 2", "step 3"},
            [](DataTraining& t, bool differs) {
              t.trainer.save(t.checkpoints, t.infeed);
              t.trainer.run(t.infeed, 1);
              t.trainer.save(t.checkpoints, t.infeed);
              t.checkpoints.wait();
              t.context.fence();
              const std::string directory = *t.context.get("directory");
              t.trainer.load(Checkpoint::open(directory, differs ? 3 : 2));
            }),
      saved("trainAndEvaluate", "TrainSpec::max_updates", "4", "5", {"max_updates", "'4'", "'5'"},
            [](DataTraining& t, bool differs) {
              io::Infeed evaluated = regression::feed(t.context, 2);
              trainAndEvaluate(t.trainer, t.checkpoints, {&t.infeed, differs ? 5U : 4U}, {&evaluated, 2}, 1);
            }),
      saved("trainAndEvaluate", "EvalSpec::every_updates", "2", "3", {"every_updates", "'2'", "'3'"},
            [](DataTraining& t, bool differs) {
              io::Infeed evaluated = regression::feed(t.context, 2);
              trainAndEvaluate(t.trainer, t.checkpoints, {&t.infeed, 4}, {&evaluated, differs ? 3U : 2U}, 1);
            }),
  };
}

}  // namespace

Rows dataRows() {
  Rows all = byHand();
  for (Row& row : byTrainers()) all.push_back(std::move(row));
  return all;
}

}  // namespace popdist::testing
