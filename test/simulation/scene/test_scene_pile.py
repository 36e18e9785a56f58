"""Islands of many contacts among objects: those that nothing closes are left out, and come back.

In the interpreter, where a few steps take less time than compiling them.
"""

import json

from support import fresh_python

CODE = """
import json
import numpy as np
from rbd_ros import Simulator
from rbd_ros.constraints.solvers.friction_body_space import CONTACTS
from rbd_ros.simulation.scene import step

wall = {'type': 'box', 'size': [0.02, 0.0401, 0.06]}
objects = {'floor': {'type': 'plane'}}
for k, (x, y) in enumerate([(1, 0), (-1, 0), (0, 1), (0, -1)]):
    objects[f'wall{k}'] = {
        **wall,
        'size': [0.02, 0.0401, 0.06] if x else [0.0201, 0.02, 0.06],
        'xyz': [0.02005 * x, 0.02005 * y, 0.03],
    }
objects['peg'] = {
    'type': 'box', 'size': [0.02, 0.02, 0.08], 'xyz': [0, 0, 0.04], 'movable': True, 'mass': 0.25,
    'velocity': {'linear': [0.04, 0.02, 0.0]},
}
world = {'objects': objects, 'defaults': {'surface': {'friction': 0.0}}}
found = []
for pile in (step.PILE, 1000):
    step.PILE = pile
    simulator = Simulator(None, world=world)
    work = simulator.world.fields.work.scene
    sizes = []
    for _ in range(6):
        simulator.step()
        sizes.append(int(work.pile.sizes[CONTACTS]))
    found.append([
        sizes,
        simulator.object_velocity('peg').tolist(),
        simulator.object_pose('peg')[:3, 3].tolist(),
        [float(contact.depth) for contact in simulator.contacts],
        float(max(simulator.residuals[:3])),
    ])
print(json.dumps(found))
"""


def test_a_peg_hits_walls_whose_contacts_were_left_out():
    pile, matrix = json.loads(fresh_python.run(CODE, RBD_ROS_COMPILER='off').stdout)
    sizes, velocity, position, depths, residual = pile
    # At first only the floor presses on it, at the end two walls have stopped it as well.
    assert sizes[0] < 12 and max(sizes) > 8
    assert abs(position[0] - 5e-5) < 1e-9 and abs(position[1] - 5e-5) < 1e-9
    assert max(abs(v) for v in velocity) < 1e-8 and max(depths) < 1e-9
    assert residual < 1e-12
    assert not any(matrix[0])
    assert max(abs(a - b) for a, b in zip(velocity, matrix[1])) < 1e-8
    assert max(abs(a - b) for a, b in zip(position, matrix[2])) < 1e-9
