// SPDX-License-Identifier: Apache-2.0
// Host I/O: datasets of named tensors, and the queues that feed replicas with their elements and carry
// results back to the host.
#pragma once

#include "popdist/data_options.hpp"
#include "popdist/dataset.hpp"
#include "popdist/dataset_benchmark.hpp"
#include "popdist/infeed.hpp"
#include "popdist/outfeed.hpp"
#include "popdist/tensor.hpp"
