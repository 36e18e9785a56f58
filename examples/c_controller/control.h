// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
/* Controllers that the HIL bench calls in its process (docs/hil_controllers.md). */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdint.h>

/*
 * Compute the torques for a state.
 *
 * joints   number of joints, n
 * time     time of the state [s]
 * q, v     measured positions and velocities, [n] each [rad, m, /s]
 * desired_q, desired_v, desired_a   desired motion, [n] each
 * torque   output, [n] [N m, N]
 *
 * Return 0, or another number as an error, which ends the run and is reported.
 */
typedef int controller(int64_t joints, double time, const double q[], const double v[],
                       const double desired_q[], const double desired_v[], const double desired_a[],
                       double torque[]);

/* Gravity compensation, with a spring and a damper at each joint */
controller gravity_pd;

/* Inverse dynamics of the measured state, with feedback as acceleration */
controller computed_torque;

#endif
