"""The same sweep over several machines of a Ray cluster, which are processes on this one. Skipped where Ray is not installed."""

import importlib.util
import unittest

from sweeps import SMALL, SMALL_COUNT, SweepTest


@unittest.skipUnless(importlib.util.find_spec("ray"), "Ray is not installed")
class Cluster(SweepTest):
    def setUp(self):
        super().setUp()
        from ray.cluster_utils import Cluster as Machines

        self.machines = Machines(initialize_head=True, head_node_args={"num_cpus": 1})
        self.addCleanup(self.machines.shutdown)
        self.machines.add_node(num_cpus=1)

    def test_two_machines_make_the_rows_that_one_makes(self):
        self.sweep(SMALL)
        alone = self.cuts()
        self.results.unlink()
        self.sweep(SMALL, "--ray", self.machines.address)
        self.assertEqual(self.cuts(), alone)

    def test_a_cell_that_fails_there_is_named_here(self):
        broken = self.disguise('[[ $1 != dedup || "$*" != *gear* ]] || { echo "cutpoint: error: on fire" >&2; exit 1; }')
        said = self.sweep(SMALL, "--ray", self.machines.address, code=1, binary=broken)
        self.assertIn("failed: cutpoint: error: on fire", said)
        self.assertEqual(len(self.cuts()), SMALL_COUNT - 4)

    def test_no_cluster_is_one_sentence(self):
        self.assertIn("no Ray cluster at 127.0.0.1:9", self.sweep(SMALL, "--ray", "127.0.0.1:9", code=1))


if __name__ == "__main__":
    unittest.main()
