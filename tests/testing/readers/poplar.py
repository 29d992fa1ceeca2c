# SPDX-License-Identifier: Apache-2.0
# Reads the target options as Poplar does, an object of texts with the keys that PopRun's log shows, and PopDist's
# variables as PopART's and PopTorch's bindings do.
import json
import os

options = json.loads(os.environ["POPLAR_TARGET_OPTIONS"])
assert all(isinstance(value, str) for value in options.values()), options
keys = ("ipuLinkDomainSize", "ipuLinkConfiguration", "ipuLinkTopology", "gatewayMode", "instanceSize")
assert set(keys) <= set(options), options
assert options["ipuLinkTopology"] in ("mesh", "torus") and options["gatewayMode"] in ("true", "false")
assert os.environ["IPUOF_LOG_LEVEL"] in ("TRACE", "DEBUG", "INFO", "WARN", "ERR", "OFF")


def number(name: str) -> int:
    return int(os.environ["POPDIST_" + name])


total, local, offset = number("NUM_TOTAL_REPLICAS"), number("NUM_LOCAL_REPLICAS"), number("REPLICA_INDEX_OFFSET")
assert number("UNIFORM_REPLICAS_PER_INSTANCE") == 1 and total % local == 0 and offset % local == 0
assert int(options["instanceSize"]) == local * number("NUM_IPUS_PER_REPLICA")
domain, size = int(options["ipuLinkDomainSize"]), int(options["instanceSize"])
assert size <= domain <= 64 and domain & (domain - 1) == 0
print(f"poplar {offset // local} of {total // local}, instance of {size} in a domain of {domain}, "
      f"log {os.environ['IPUOF_LOG_LEVEL']}")
