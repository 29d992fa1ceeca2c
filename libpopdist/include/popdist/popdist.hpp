// SPDX-License-Identifier: Apache-2.0
// All of popdist but backend_plugin.hpp, which is for plugins; and PopDist's questions about the environment
// as free functions. These only read the environment: they need no agent and no other instance, and cost
// nothing. Without poprun they describe one instance with one replica on one IPU. All throw popdist_error
// kInvalidArgument if the environment contradicts itself, and kFailedPrecondition in a process that another
// launcher (mpirun, srun, torchrun) started as one of several.
#pragma once

#include "popdist/accumulation.hpp"
#include "popdist/async.hpp"
#include "popdist/backend.hpp"
#include "popdist/batch_norm.hpp"
#include "popdist/buffer.hpp"
#include "popdist/checkpoint.hpp"
#include "popdist/cluster_resolver.hpp"
#include "popdist/collectives.hpp"
#include "popdist/context.hpp"
#include "popdist/denormals.hpp"
#include "popdist/error.hpp"
#include "popdist/evaluator.hpp"
#include "popdist/fused.hpp"
#include "popdist/io.hpp"
#include "popdist/loops.hpp"
#include "popdist/memory_plan.hpp"
#include "popdist/piece.hpp"
#include "popdist/pipeline_plan.hpp"
#include "popdist/pod.hpp"
#include "popdist/popart_horovod.hpp"
#include "popdist/progress_report.hpp"
#include "popdist/span.hpp"
#include "popdist/trainer.hpp"
#include "popdist/types.hpp"

namespace popdist {

bool isPopdistEnvSet();  ///< started by poprun (or PopRun)

int getNumTotalReplicas();
int getNumLocalReplicas();    ///< replicas of this instance
int getReplicaIndexOffset();  ///< global index of this instance's first replica
int getNumIpusPerReplica();
int getLocalInstanceIndex();  ///< index among the instances of this host

/// Index of this instance and their number. kFailedPrecondition when the instances have different numbers of
/// replicas and the environment (PopRun's own) does not say.
int getInstanceIndex();
int getNumInstances();

/// False when the environment says otherwise.
bool checkNumIpusPerReplica(int num_ipus);

/// The Poplar device id for this instance: the smallest aligned group of IPUs that holds its replicas, in the
/// numbering of the job's partition (single IPUs first, then pairs, quads, …). `ipus_per_replica` 0: the
/// environment's. kInvalidArgument when replicas have more IPUs together than any partition.
int getDeviceId(int ipus_per_replica = 0);

}  // namespace popdist
