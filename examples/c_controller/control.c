// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
/* Two controllers of an arm, with functions exported by `rbd_ros codegen --name arm`. */
#include "control.h"
#include "arm.h"

#define FREQUENCY 18.0 /* natural frequency of computed torque [rad/s] */

/* Springs and dampers of the six joints, for the inertia moved by each [N m/rad, N m s/rad] */
static const double STIFFNESS[ARM_NV] = {1200.0, 1200.0, 600.0, 60.0, 20.0, 2.0};
static const double DAMPING[ARM_NV] = {80.0, 80.0, 40.0, 2.0, 0.5, 0.02};

int gravity_pd(int64_t joints, double time, const double q[], const double v[],
               const double desired_q[], const double desired_v[], const double desired_a[],
               double torque[])
{
    (void)time;
    (void)desired_a;
    if (joints != ARM_NV) return 1;
    arm_gravity_torque(q, torque);
    for (int k = 0; k < ARM_NV; ++k) {
        torque[k] += STIFFNESS[k] * (desired_q[k] - q[k]) + DAMPING[k] * (desired_v[k] - v[k]);
    }
    return 0;
}

int computed_torque(int64_t joints, double time, const double q[], const double v[],
                    const double desired_q[], const double desired_v[], const double desired_a[],
                    double torque[])
{
    double a[ARM_NV];
    (void)time;
    if (joints != ARM_NV) return 1;
    for (int k = 0; k < ARM_NV; ++k) {
        a[k] = desired_a[k] + 2.0 * FREQUENCY * (desired_v[k] - v[k])
               + FREQUENCY * FREQUENCY * (desired_q[k] - q[k]);
    }
    arm_inverse_dynamics(q, v, a, torque);
    /* Feedback scaled by inertia is too weak against the friction of light joints. */
    for (int k = 0; k < ARM_NV; ++k) torque[k] += 0.5 * STIFFNESS[k] * (desired_q[k] - q[k]);
    return 0;
}
