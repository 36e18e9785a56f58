// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
/* A controller as rbd_ros's bench calls it in its own process (docs/hil_controllers.md). */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdint.h>

/*
 * Torques for a state.
 *
 * joints   number of joints, n
 * time     of the state [s]
 * q, v     measured positions and velocities, [n] each [rad, m, /s]
 * desired_q, desired_v, desired_a   desired motion, [n] each
 * torque   out, [n] [N m, N]
 *
 * Returns 0, or another number if it cannot: the run then ends, and reports the number.
 */
typedef int controller(int64_t joints, double time, const double q[], const double v[],
                       const double desired_q[], const double desired_v[], const double desired_a[],
                       double torque[]);

/* Gravity, and a spring and a damper at each joint */
controller gravity_pd;

/* Inverse dynamics of the measured state, with feedback as acceleration */
controller computed_torque;

#endif
