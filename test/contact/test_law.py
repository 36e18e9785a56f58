# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Law of soft contact, implicit in time, against the book's equations one by one."""

import numpy as np
import pytest

from rbd_ros.compiler.loops import Vec
from rbd_ros.contact.law import (
    contact_force,
    normal_force,
    OPEN,
    relaxed_deformation,
    SLIDING,
    stick_force,
    STICKING,
)

K, D, K_T, D_T, MU = 2000.0, 30.0, 1500.0, 20.0, 0.6
PARAMETERS = np.array([K, D, K_T, D_T, MU])


def evaluate(rate, gap=0.0, z=0.0, x=(0.0, 0.0), h=1e-3):
    slope = np.empty((3, 3))
    state, force = contact_force(
        Vec(*rate), gap, z, np.array(x, dtype=float), PARAMETERS, h, slope
    )
    return state, np.array(force), slope


@pytest.mark.seed('CN19')
def test_in_the_limit_of_short_steps_the_force_is_the_books():
    """11.74: max(0, -K z - D dp/dt) when p = z; 11.78: -K x - D v."""
    for rate in (-0.5, 0.1, 0.3):
        assert normal_force(rate, -0.004, -0.004, K, D, 1e-12) == pytest.approx(
            max(0.0, 0.004 * K - D * rate), abs=1e-6
        )
    assert stick_force(0.2, 0.003, K_T, D_T, 1e-12) == pytest.approx(-0.003 * K_T - 0.2 * D_T)


@pytest.mark.seed('CN19')
def test_a_body_above_its_patch_at_the_end_of_the_step_feels_no_force():
    assert normal_force(-0.5, 1e-3, 0.0, K, D, 1e-3) == 0.0
    assert normal_force(-1.5, 1e-3, 0.0, K, D, 1e-3) > 0.0
    # the patch, left behind pressed in, is caught up by a body that goes down faster than it comes
    # up
    assert normal_force(-1.0, -0.004, -0.006, K, D, 1e-3) == 0.0
    assert normal_force(-4.0, -0.004, -0.006, K, D, 1e-3) > 0.0


@pytest.mark.seed('CN19')
def test_patch_and_force_obey_the_equation_of_motion_of_the_patch():
    """11.76 at the end of the step, and the patch that carries a force is where the body is."""
    h, z, gap, rate = 1e-3, -0.003, -0.003, -0.7
    force = normal_force(rate, gap, z, K, D, h)
    end = relaxed_deformation(z, force, K, D, h)
    assert (end - z) / h == pytest.approx(-(K * end + force) / D)
    assert end == pytest.approx(gap + h * rate)


@pytest.mark.seed('CN19')
def test_a_free_patch_relaxes_exponentially_in_the_limit():
    z, h = -0.01, 1e-6
    for _ in range(10000):
        z = relaxed_deformation(z, 0.0, K, D, h)
    assert z == pytest.approx(-0.01 * np.exp(-K * 0.01 / D), rel=1e-3)


@pytest.mark.seed('CN21')
def test_friction_sticks_inside_the_cone_and_slides_on_it_against_the_motion():
    state, force, _ = evaluate([-1.0, 0.1, 0.0], gap=-1e-3, z=-1e-3)
    assert state == STICKING
    assert force[1] == pytest.approx(-(1e-3 * K_T + D_T) * 0.1) and force[2] == 0.0
    state, force, _ = evaluate([-1.0, 3.0, -4.0], gap=-1e-3, z=-1e-3)
    assert state == SLIDING
    assert np.hypot(force[1], force[2]) == pytest.approx(MU * force[0])
    assert force[1:] == pytest.approx(MU * force[0] * np.array([-0.6, 0.8]))
    state, force, slope = evaluate([1.0, 3.0, -4.0])
    assert state == OPEN and not force.any() and not slope.any()


@pytest.mark.parametrize('rate', [[-1.0, 0.1, 0.05], [-0.5, 3.0, -4.0]])
def test_slopes_are_the_derivatives_of_the_force(rate):
    _, _, slope = evaluate(rate, -2e-3, -2e-3, (1e-4, -2e-4))
    for k in range(3):
        step = 1e-6 * np.eye(3)[k]
        up = evaluate(rate + step, -2e-3, -2e-3, (1e-4, -2e-4))[1]
        down = evaluate(rate - step, -2e-3, -2e-3, (1e-4, -2e-4))[1]
        assert slope[:, k] == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-6)
