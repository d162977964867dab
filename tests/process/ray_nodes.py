"""A Ray cluster on this machine for tests: a head without processors, and two nodes. Ends with its standard input.

python ray_nodes.py PORT    prints a line when the cluster answers at this port
"""

import sys

from ray.cluster_utils import Cluster

IP = "127.0.0.2"  # Ray takes 127.0.0.1 for the address of the machine in its network
HERE = {"include_dashboard": False, "node_ip_address": IP}
STORE_BYTES = 100_000_000  # for results; by default a third of the memory

if __name__ == "__main__":
    head = {"num_cpus": 0, "ray_client_server_port": int(sys.argv[1]), "object_store_memory": STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args={**HERE, **head})
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES, node_ip_address=IP)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    cluster.shutdown()
