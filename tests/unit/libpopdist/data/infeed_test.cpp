// SPDX-License-Identifier: Apache-2.0
// Infeed: the same elements in the same order whatever is read ahead, and clean ends at any moment.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <set>

#include "tests/testing/fork_at_rest.h"
#include "tests/testing/refused.h"
#include "tests/unit/libpopdist/data/datasets.h"

namespace popdist::io {
namespace {

using testing::counting;
using testing::countingSequence;
using testing::drain;
using ::testing::ElementsAre;
using testing::elementsIn;
using testing::expectError;
using testing::passOf;
using testing::upTo;

TEST(Infeed, OrderIsTheDatasetsForEveryDepthAndNumberOfThreads) {
  const std::vector<int> expected = passOf(counting(500).shuffle(9).batch(7), 1);
  for (const int depth : {1, 3, 255}) {
    for (const int threads : {1, 2, 8}) {
      Infeed infeed(counting(500).shuffle(9).batch(7).prefetch(depth), {.threads = threads});
      EXPECT_EQ(infeed.steps(), 71U);
      infeed.start({.epoch = 1});
      EXPECT_EQ(drain(infeed), expected) << depth << ", " << threads;
    }
  }
}

TEST(Infeed, StartsAtTheFirstEpochByItself) {
  Infeed infeed(counting(10));
  EXPECT_EQ(drain(infeed), upTo(10));
  EXPECT_EQ(infeed.next(), nullptr) << "the end stays the end";
}

TEST(Infeed, GoesOnFromAnyPosition) {
  Infeed infeed(counting(100).shuffle(1).batch(10));
  for (const std::uint64_t epoch : {0U, 1U, 0U, 7U}) {
    infeed.start({.epoch = epoch});
    EXPECT_EQ(drain(infeed), passOf(counting(100).shuffle(1), epoch));
  }
  infeed.start({.epoch = 4});
  for (int i = 0; i < 3; ++i) infeed.next();
  const Position position = infeed.position();
  EXPECT_EQ(position, (Position{.epoch = 4, .step = 3}));
  const std::vector<int> rest = drain(infeed);
  Infeed another(counting(100).shuffle(1).batch(10));
  another.start(position);
  EXPECT_EQ(drain(another), rest);
  EXPECT_EQ(rest.size(), 70U);
}

TEST(Infeed, PositionCountsWhatWasTakenAndNotWhatWasReadAhead) {
  Infeed infeed(counting(100).prefetch(10), {.replicas = 2});
  infeed.next(0);
  infeed.next(1);
  infeed.next(1);
  EXPECT_EQ(infeed.position(0).step, 1U);
  EXPECT_EQ(infeed.position(1).step, 2U);
}

TEST(Infeed, GivesEachReplicaItsElementOfEachStep) {
  Infeed infeed(counting(8), {.replicas = 3});
  EXPECT_EQ(infeed.replicas(), 3);
  EXPECT_EQ(infeed.steps(), 2U);
  EXPECT_THAT(elementsIn(*infeed.next(1)), ElementsAre(1));
  EXPECT_THAT(elementsIn(*infeed.next(0)), ElementsAre(0));
  EXPECT_THAT(elementsIn(*infeed.next(2)), ElementsAre(2));
  EXPECT_THAT(elementsIn(*infeed.next(2)), ElementsAre(5));
  EXPECT_EQ(infeed.next(2), nullptr) << "two elements make no step of three";
}

TEST(Infeed, SequenceEndsWithItsLastWholeStep) {
  Infeed infeed(countingSequence(8), {.replicas = 3, .threads = 4});
  EXPECT_EQ(infeed.steps(), std::nullopt);
  for (int step = 0; step < 2; ++step) {
    for (int replica = 0; replica < 3; ++replica) EXPECT_NE(infeed.next(replica), nullptr);
  }
  for (int replica = 0; replica < 3; ++replica) EXPECT_EQ(infeed.next(replica), nullptr);
}

TEST(Infeed, ReplicasMayBeFarApart) {
  Infeed infeed(counting(100), {.replicas = 2, .threads = 2});
  EXPECT_EQ(drain(infeed, 1).size(), 50U);
  EXPECT_EQ(infeed.position(0).step, 0U);
  EXPECT_EQ(drain(infeed, 0).size(), 50U);
}

TEST(Infeed, ReplicaThatLeavesItsElementsOfASequenceIsNamed) {
  Infeed infeed(countingSequence(100), {.replicas = 2, .turn_timeout = std::chrono::milliseconds(20)});
  for (int i = 0; i < 3; ++i) EXPECT_NE(infeed.next(0), nullptr);
  expectError([&] { infeed.next(0); }, ErrorCode::kDeadlineExceeded,
              "step 3 comes after elements of replica 1");
  EXPECT_NE(infeed.next(1), nullptr);
  EXPECT_NE(infeed.next(0), nullptr) << "it goes on";
}

TEST(Infeed, RepeatsForEver) {
  Infeed infeed(counting(3).shuffle(4).repeat());
  EXPECT_EQ(infeed.steps(), Dataset::kEndless);
  std::vector<int> elements;
  for (int i = 0; i < 9; ++i) elements.push_back(elementsIn(*infeed.next())[0]);
  EXPECT_EQ(elements, passOf(counting(3).shuffle(4).repeat(3)));
}

TEST(Infeed, ReadsAheadByItsDepthAndNoFurther) {
  std::atomic<int> reads = 0;
  std::promise<void> three_read;
  Infeed infeed(counting(100, [&](std::uint64_t) {
    if (++reads == 3) three_read.set_value();
  }));
  infeed.start();
  three_read.get_future().wait();  // without next() being called
  EXPECT_EQ(reads, 3) << "the queue is full until next() takes an element";
  ASSERT_NE(infeed.next(), nullptr);
}

TEST(Infeed, UsesItsMemoryAgain) {
  Infeed infeed(counting(400).batch(2));
  std::set<const std::byte*> memory;
  for (const std::uint64_t epoch : {0U, 1U}) {
    infeed.start({.epoch = epoch});
    while (const Tensors* batch = infeed.next()) memory.insert(batch->at(0).bytes().data());
  }
  EXPECT_LE(memory.size(), 4U) << "what is read ahead, and the one that the caller holds";
}

TEST(Infeed, StartingDiscardsWhatWasReadAhead) {
  Infeed infeed(counting(1000).shuffle(2).batch(5), {.threads = 3});
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    infeed.start({.epoch = epoch});
    const std::vector<int> expected = passOf(counting(1000).shuffle(2).take(25), epoch);
    for (std::uint64_t i = 0; i < epoch % 5; ++i)
      ASSERT_EQ(elementsIn(*infeed.next())[0], expected[5 * i]) << epoch;
  }
}

TEST(Infeed, MayBeDestroyedAtAnyMoment) {
  for (int batches = 0; batches <= 11; ++batches) {
    for (const int depth : {1, 3, 255}) {
      for (const bool is_sequence : {false, true}) {
        Infeed infeed((is_sequence ? countingSequence(100) : counting(100)).batch(10).prefetch(depth),
                      {.threads = 2});
        if (batches > 0) infeed.start();
        for (int i = 1; i < batches; ++i) infeed.next();
      }
    }
  }
}

TEST(Infeed, AbandonedBatchIsReadNoFurtherThanTheRowInProgress) {
  std::promise<void> reading;
  std::promise<void> go_on;
  std::atomic<int> reads = 0;
  Infeed infeed(counting(100,
                         [&](std::uint64_t) {
                           if (++reads > 1) return;
                           reading.set_value();
                           go_on.get_future().wait();
                         })
                    .shuffle()
                    .batch(100));
  infeed.start();
  reading.get_future().wait();
  std::thread again([&] { infeed.start({.epoch = 2}); });
  go_on.set_value();
  again.join();
  EXPECT_EQ(elementsIn(*infeed.next()), passOf(counting(100).shuffle(), 2));
  EXPECT_GE(reads, 101);
  EXPECT_LE(reads, 200) << "not much of epoch 0, then all of epoch 2";
}

TEST(Infeed, MovedInfeedGoesOn) {
  Infeed first(counting(20).batch(5));
  const Tensors* batch = first.next();
  Infeed second(std::move(first));
  EXPECT_EQ(elementsIn(*batch)[0], 0);
  EXPECT_EQ(elementsIn(*second.next())[0], 5);
}

TEST(Infeed, ErrorComesInPlaceOfItsElementUntilTheNextStart) {
  for (const int threads : {1, 4}) {
    std::atomic<bool> fails = true;
    Infeed infeed(counting(20,
                           [&](std::uint64_t index) {
                             if (fails && index >= 12) throw std::runtime_error("bad disk");
                           })
                      .batch(5),
                  {.threads = threads});
    infeed.start({.epoch = 3});
    EXPECT_EQ(elementsIn(*infeed.next())[0], 0);
    EXPECT_EQ(elementsIn(*infeed.next())[0], 5);
    for (int again = 0; again < 2; ++again) {
      expectError([&] { infeed.next(); }, ErrorCode::kUnknown,
                  "Infeed.next: while reading step 2 of epoch 3 for local replica 0: bad disk");
    }
    fails = false;
    infeed.start({.epoch = 3});
    EXPECT_EQ(drain(infeed).size(), 20U);
  }
}

TEST(Infeed, ErrorsKeepTheirCode) {
  const auto fail = [](const auto& error, ErrorCode code, const std::string& message) {
    Infeed infeed(counting(1, [&](std::uint64_t) { throw error; }));
    expectError([&] { infeed.next(); }, code, message);
  };
  fail(popdist_error(ErrorCode::kDataLoss, "record 7 is corrupt"), ErrorCode::kDataLoss,
       "record 7 is corrupt");
  fail(std::bad_alloc(), ErrorCode::kResourceExhausted, "lower the batch or the prefetch depth");
  fail(42, ErrorCode::kUnknown, "the dataset threw an exception of type int, not a std::exception");
  fail(std::string("no file"), ErrorCode::kUnknown, ": no file, not a std::exception");
}

TEST(Infeed, ErrorsNameTheirCauses) {
  Infeed infeed(counting(1, [](std::uint64_t) {
    try {
      throw std::runtime_error("cannot open data.bin");
    } catch (const std::exception&) {
      std::throw_with_nested(std::runtime_error("loading failed"));
    }
  }));
  expectError([&] { infeed.next(); }, ErrorCode::kUnknown,
              "loading failed; caused by std::runtime_error: cannot open data.bin");
}

TEST(Infeed, GeneratorThatFailsOnceLosesNoElement) {
  const auto fails = std::make_shared<std::atomic<bool>>(true);
  Infeed infeed(Dataset::fromGenerator({{"v", Type::kInt32, {}}}, [fails](std::uint64_t) -> Generator {
    return [fails, i = 0](TensorRefs element) mutable {
      const int value = i++;  // before it fails, as one does that reads a stream
      if (value == 2 && fails->exchange(false)) throw std::runtime_error("the network is gone");
      element.get<std::int32_t>("v")[0] = value;
      return value < 5;
    };
  }));
  std::vector<int> values;
  for (int i = 0; i < 2; ++i) values.push_back(infeed.next()->get<std::int32_t>("v")[0]);
  EXPECT_THROW(infeed.next(), popdist_error);
  infeed.start(infeed.position());
  while (const Tensors* element = infeed.next()) values.push_back(element->get<std::int32_t>("v")[0]);
  EXPECT_EQ(values, upTo(5));
}

TEST(Infeed, ErrorsOfAGeneratorAreItsElements) {
  Infeed infeed(Dataset::fromGenerator({{"v", Type::kInt32, {}}}, [](std::uint64_t) -> Generator {
    return [i = 0](TensorRefs element) mutable {
      if (i == 2) throw std::runtime_error("the network is gone");
      element.get<std::int32_t>(0)[0] = i++;
      return true;
    };
  }));
  EXPECT_EQ(infeed.next()->get<std::int32_t>("v")[0], 0);
  EXPECT_EQ(infeed.next()->get<std::int32_t>("v")[0], 1);
  expectError([&] { infeed.next(); }, ErrorCode::kUnknown, "the network is gone");
}

TEST(Infeed, MapsOnTheDeviceWhatCrossedAsBytes) {
  const auto bytes = Tensor::of<std::uint8_t>("image", {4, 2}, {0, 51, 102, 153, 204, 255, 0, 0});
  Infeed infeed(
      Dataset::fromSlices(Tensors(bytes.clone())).batch(2),
      {.device_map = DeviceMap{{{"pixels", Type::kFloat, {2, 2}}}, [](ConstTensorRefs from, TensorRefs to) {
                                 for (std::size_t i = 0; i < 4; ++i)
                                   to.get<float>(0)[i] =
                                       static_cast<float>(from.get<std::uint8_t>("image")[i]) / 255.0F;
                               }}});
  EXPECT_EQ(textOf(infeed.spec()), "pixels: float [2, 2]");
  const Tensors* batch = infeed.next();
  EXPECT_EQ(batch->get<float>("pixels")[1], 0.2F);
  EXPECT_EQ(infeed.bytesFed(), 4U) << "a quarter of the floats";
}

TEST(Infeed, IsOnlyForgottenByAForkedChild) {
  Infeed infeed(counting(100).batch(5));  // more than it reads ahead
  infeed.start();
  const pid_t child = popdist::testing::forkAtRest();
  if (child == 0) {
    ::alarm(20);  // it would wait for a thread that it has not got
    const bool refused = popdist::testing::isRefused([&] { infeed.next(); });
    Infeed(std::move(infeed));
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(drain(infeed).size(), 100U);
}

TEST(Infeed, RefusesOptionsOutOfRange) {
  const auto expectRefused = [](InfeedOptions options, const std::string& message) {
    expectError([&] { const Infeed infeed(counting(10), options); }, ErrorCode::kInvalidArgument, message);
  };
  expectRefused({.replicas = 0}, "replicas is 0");
  expectRefused({.threads = 0}, "threads is 0, expected 1 to 64");
  expectRefused({.threads = 65}, "threads is 65");
  expectRefused({.turn_timeout = std::chrono::milliseconds(-1)}, "turn_timeout is -1 ms");
  expectRefused({.device_map = DeviceMap{{{"x", Type::kFloat, {}}}, nullptr}}, "device_map has no function");
  Infeed infeed(counting(3));
  expectError([&] { infeed.next(1); }, ErrorCode::kOutOfRange, "no replica 1 among the 1");
  Dataset consumed = counting(3);
  const Infeed other(std::move(consumed));
  expectError([&] { const Infeed third(std::move(consumed)); }, ErrorCode::kFailedPrecondition,
              "cannot be used again");
}

}  // namespace
}  // namespace popdist::io
