/* Two controllers of an arm, of functions that `rbd_ros codegen --name arm` has exported. */
#include "control.h"
#include "arm.h"

#define FREQUENCY 18.0 /* of the closed loop with computed torque [rad/s] */
#define STIFFNESS 600.0 /* of the springs [N m/rad] */
#define DAMPING 40.0 /* of the dampers [N m s/rad] */

int gravity_pd(int64_t joints, double time, const double q[], const double v[],
               const double wanted_q[], const double wanted_v[], const double wanted_a[],
               double torque[])
{
    (void)time;
    (void)wanted_a;
    if (joints != ARM_NV) return 1;
    arm_gravity_torque(q, torque);
    for (int k = 0; k < ARM_NV; ++k) {
        torque[k] += STIFFNESS * (wanted_q[k] - q[k]) + DAMPING * (wanted_v[k] - v[k]);
    }
    return 0;
}

int computed_torque(int64_t joints, double time, const double q[], const double v[],
                    const double wanted_q[], const double wanted_v[], const double wanted_a[],
                    double torque[])
{
    double a[ARM_NV];
    (void)time;
    if (joints != ARM_NV) return 1;
    for (int k = 0; k < ARM_NV; ++k) {
        a[k] = wanted_a[k] + 2.0 * FREQUENCY * (wanted_v[k] - v[k])
               + FREQUENCY * FREQUENCY * (wanted_q[k] - q[k]);
    }
    arm_inverse_dynamics(q, v, a, torque);
    return 0;
}
