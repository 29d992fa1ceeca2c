# SPDX-License-Identifier: Apache-2.0
# The core of all frameworks' stores and coordinators: rank 0 listens where the environment says, every other rank
# connects there. Each sends its rank; rank 0 checks that each came once, and answers.
import os
import socket
import time

TIMEOUT_S = 20


def meet(address: str, port: int, rank: int, size: int, family: int = socket.AF_INET) -> None:
    if rank == 0:
        serve(port, size, family)
    else:
        join(address, port, rank)


def serve(port: int, size: int, family: int) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind(("", port))
        server.listen(size)
        server.settimeout(TIMEOUT_S)
        peers = {}
        while len(peers) < size - 1:
            peer, _ = server.accept()
            peer.settimeout(TIMEOUT_S)
            rank = int(peer.makefile().readline())
            assert rank not in peers and 0 < rank < size, f"rank {rank} came twice, or is none of {size}"
            peers[rank] = peer
        for peer in peers.values():
            peer.sendall(b"all\n")
            peer.close()


def join(address: str, port: int, rank: int) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            peer = socket.create_connection((address, port), timeout=TIMEOUT_S)
            break
        except ConnectionRefusedError:  # rank 0 is not there yet: frameworks try again, too
            assert time.monotonic() < deadline, f"nobody listens at {address}:{port}"
            os.sched_yield()
    with peer:
        peer.sendall(f"{rank}\n".encode())
        assert peer.makefile().readline() == "all\n", "rank 0 went away"
