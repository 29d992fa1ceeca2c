// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/update/block_passes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libpopdist/data/tensor/visit_type.h"
#include "libpopdist/train/update/kernels.h"

namespace popdist::train {
namespace {

void toFloats(Type type, const std::byte* from, std::span<float> to) {
  visitType(type, [&]<typename T>(std::type_identity<T>) {
    const T* const elements = reinterpret_cast<const T*>(from);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(elements[i]);
  });
}

void fromFloats(std::span<const float> from, Type type, std::byte* to) {
  visitType(type, [&]<typename T>(std::type_identity<T>) {
    T* const elements = reinterpret_cast<T*>(to);
    for (std::size_t i = 0; i < from.size(); ++i) elements[i] = static_cast<T>(from[i]);
  });
}

template <typename Byte>
Byte* at(const BasicTensorRefs<Byte>& tensors, const BlockPlace& place) {
  return tensors.data()[place.parameter] + place.first * sizeOf(tensors.spec()[place.parameter].type);
}

}  // namespace

BlockPasses::BlockPasses(Spec parameters, Optimizer optimizer, std::vector<BlockPlace> blocks, BlockRange own,
                         bool gradients_are_floats)
    : parameters_(std::move(parameters)),
      optimizer_(std::move(optimizer)),
      blocks_(std::move(blocks)),
      own_(own),
      gradients_are_floats_(gradients_are_floats),
      norms_of_updates_(parameters_.size()),
      norms_of_values_(parameters_.size()) {
  addPasses();
  placeState();
  for (std::size_t block = 0; block < blocks_.size(); ++block)
    if (blocks_[block].first == 0) first_block_.push_back(block);
  first_block_.push_back(blocks_.size());
}

// A transform that needs norms of what the others have made begins a pass.
void BlockPasses::addPasses() {
  passes_.emplace_back();
  for (const Transform& transform : optimizer_.transforms) {
    if (transform.norms != Norms::kNone) passes_.push_back({{}, transform.norms});
    passes_.back().transforms.push_back(&transform);
    arrays_ += transform.state.size();
  }
}

void BlockPasses::placeState() {
  kept_at_.resize(blocks_.size());
  for (std::size_t block = own_.begin; block < own_.end; ++block) {
    kept_at_[block] = kept_elements_;
    kept_elements_ += blocks_[block].count;
  }
  state_.resize(arrays_ * kept_elements_);
  if (!gradients_are_floats_) kept_.resize(kept_elements_);
  value_.resize(kBlockElements);
  state_of_block_.resize(arrays_);
}

std::span<float> BlockPasses::stateOf(std::size_t array, std::size_t block) {
  return std::span(state_).subspan(array * kept_elements_ + kept_at_[block], blocks_[block].count);
}

bool BlockPasses::finite(ConstTensorRefs gradients) const {
  std::vector<float> floats;
  for (std::size_t block = own_.begin; block < own_.end; ++block) {
    const BlockPlace& place = blocks_[block];
    const std::byte* const data = at(gradients, place);
    const Type type = gradients.spec()[place.parameter].type;
    if (type != Type::kFloat) {
      floats.resize(place.count);
      toFloats(type, data, floats);
    }
    const float* const elements = type == Type::kFloat ? reinterpret_cast<const float*>(data) : floats.data();
    if (!kernels().finite(elements, place.count)) return false;
  }
  return true;
}

void BlockPasses::run(std::size_t pass, BlockRange blocks, std::uint64_t updates_done, double factor,
                      TensorRefs gradients, std::span<const TensorRefs> values, BlockSquares& squares) {
  if (passes_[pass].norms != Norms::kNone) setNorms(blocks, squares);
  if (pass == 0) prepare(updates_done);
  const bool last = pass + 1 == passes_.size();
  const std::size_t end = std::min(blocks.end, own_.end);
  for (std::size_t block = std::max(blocks.begin, own_.begin); block < end; ++block) {
    const Loaded loaded = load(block, gradients, values.front(), pass == 0);
    const std::size_t count = loaded.update.size();
    if (pass == 0 && factor != 1) kernels().scale(loaded.update.data(), count, static_cast<float>(factor));
    transform(passes_[pass], block, updates_done, loaded);
    if (last) {
      subtract(block, loaded, values);
      continue;
    }
    squares.updates[block] = kernels().squares(loaded.update.data(), count);
    if (passes_[pass + 1].norms == Norms::kOfEach)
      squares.values[block] = kernels().squares(loaded.value.data(), count);
  }
}

BlockPasses::Loaded BlockPasses::load(std::size_t block, TensorRefs gradients, ConstTensorRefs values,
                                      bool first_pass) {
  const BlockPlace& place = blocks_[block];
  Loaded loaded;
  if (gradients_are_floats_) {
    loaded.update = {reinterpret_cast<float*>(at(gradients, place)), place.count};
  } else {
    loaded.update = std::span(kept_).subspan(kept_at_[block], place.count);
    if (first_pass) toFloats(gradients.spec()[place.parameter].type, at(gradients, place), loaded.update);
  }
  const Type type = parameters_[place.parameter].type;
  if (type == Type::kFloat) {
    loaded.value = {reinterpret_cast<const float*>(at(values, place)), place.count};
  } else {
    toFloats(type, at(values, place), std::span(value_).first(place.count));
    loaded.value = std::span(value_).first(place.count);
  }
  return loaded;
}

void BlockPasses::transform(const Pass& pass, std::size_t block, std::uint64_t updates_done,
                            const Loaded& loaded) {
  const BlockPlace& place = blocks_[block];
  for (std::size_t array = 0; array < arrays_; ++array) state_of_block_[array] = stateOf(array, block);
  std::size_t first_array = 0;
  for (std::size_t i = 0; i < optimizer_.transforms.size(); ++i) {
    const Transform& each = optimizer_.transforms[i];
    const std::span state = std::span(state_of_block_).subspan(first_array, each.state.size());
    first_array += each.state.size();
    if (std::find(pass.transforms.begin(), pass.transforms.end(), &each) == pass.transforms.end()) continue;
    each.apply({.parameter = parameters_[place.parameter],
                .first = place.first,
                .updates_done = updates_done,
                .update = loaded.update,
                .value = loaded.value,
                .state = state,
                .of_update = of_update_[i],
                .norm_of_all = norm_of_all_,
                .norm_of_update = norms_of_updates_[place.parameter],
                .norm_of_value = norms_of_values_[place.parameter]});
  }
}

// Once for an update, also where its parameters come one by one.
void BlockPasses::prepare(std::uint64_t updates_done) {
  if (prepared_for_ == updates_done) return;
  prepared_for_ = updates_done;
  of_update_.clear();
  for (const Transform& each : optimizer_.transforms)
    of_update_.push_back(each.prepare ? each.prepare(updates_done) : std::vector<double>());
}

void BlockPasses::subtract(std::size_t block, const Loaded& loaded, std::span<const TensorRefs> values) {
  const BlockPlace& place = blocks_[block];
  const Type type = parameters_[place.parameter].type;
  std::byte* const first = at(values.front(), place);
  if (type == Type::kFloat) {
    kernels().subtract(reinterpret_cast<float*>(first), loaded.update.data(), place.count);
  } else {
    kernels().subtract(value_.data(), loaded.update.data(), place.count);
    fromFloats(std::span(value_).first(place.count), type, first);
  }
  for (const TensorRefs& other : values.subspan(1))
    std::copy_n(first, place.count * sizeOf(type), at(other, place));
}

void BlockPasses::setNorms(BlockRange blocks, const BlockSquares& squares) {
  double all = 0;
  for (std::size_t block = blocks.begin; block < blocks.end;) {
    const std::size_t parameter = blocks_[block].parameter;
    double of_update = 0;
    double of_value = 0;
    for (; block < first_block_[parameter + 1]; ++block) {
      all += squares.updates[block];
      of_update += squares.updates[block];
      of_value += squares.values[block];
    }
    norms_of_updates_[parameter] = std::sqrt(of_update);
    norms_of_values_[parameter] = std::sqrt(of_value);
  }
  norm_of_all_ = std::sqrt(all);
}

std::vector<Piece> BlockPasses::state() {
  std::vector<Piece> pieces;
  std::size_t array = 0;
  for (const Transform& transform : optimizer_.transforms) {
    for (const std::string& name : transform.state) {
      for (std::size_t block = own_.begin; block < own_.end; ++block) {
        const TensorSpec& parameter = parameters_[blocks_[block].parameter];
        const std::span<std::byte> bytes = std::as_writable_bytes(stateOf(array, block));
        if (block > own_.begin && blocks_[block].first > 0) {
          Piece& before = pieces.back();  // bytes that follow in the tensor follow in memory
          before.bytes = {before.bytes.data(), before.bytes.size() + bytes.size()};
          continue;
        }
        pieces.push_back({.name = transform.name + '.' + name + '/' + parameter.name,
                          .type = Type::kFloat,
                          .shape = parameter.shape,
                          .first = blocks_[block].first,
                          .bytes = bytes});
      }
      ++array;
    }
  }
  return pieces;
}

}  // namespace popdist::train
