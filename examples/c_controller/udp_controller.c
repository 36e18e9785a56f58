// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
/* A controller without ROS: it receives states over UDP and returns torques.
 *
 *     ./udp_controller 9700 computed_torque
 */
#include "arm.h"
#include "control.h"
#include "udp_packets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static int fail(const char *what)
{
    perror(what);
    return 1;
}

int main(int count, char **words)
{
    const int port = count > 1 ? atoi(words[1]) : 0;
    controller *control = gravity_pd;
    if (count > 2 && strcmp(words[2], "computed_torque") == 0) control = computed_torque;
    else if (count > 2 && strcmp(words[2], "gravity_pd") != 0) count = 0;
    if (count < 2 || port < 1 || port > 65535) {
        fprintf(stderr, "usage: udp_controller PORT [gravity_pd|computed_torque]\n");
        return 2;
    }
    const int bridge = socket(AF_INET, SOCK_DGRAM, 0);
    if (bridge < 0) return fail("socket");
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    /* Accept packets of this machine only; INADDR_ANY accepts others, too. */
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(bridge, (struct sockaddr *)&here, sizeof here) != 0) return fail("bind");
    printf("listening on port %d\n", port);
    fflush(stdout);
    for (;;) {
        unsigned char state[STATE_SIZE(ARM_NV) + 1], answer[ANSWER_SIZE(ARM_NV)];
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        const ssize_t got =
            recvfrom(bridge, state, sizeof state, 0, (struct sockaddr *)&from, &size);
        struct state_head head;
        if (got < 0) return fail("recvfrom");
        if (!packet_is_state(state, (size_t)got, ARM_NV, &head)) continue;
        double q[ARM_NV], v[ARM_NV], desired_q[ARM_NV], desired_v[ARM_NV], desired_a[ARM_NV];
        double torque[ARM_NV];
        packet_vector(state, ARM_NV, 0, q);
        packet_vector(state, ARM_NV, 1, v);
        packet_vector(state, ARM_NV, 2, desired_q);
        packet_vector(state, ARM_NV, 3, desired_v);
        packet_vector(state, ARM_NV, 4, desired_a);
        if (control(ARM_NV, 1e-9 * (double)head.stamp, q, v, desired_q, desired_v, desired_a,
                    torque) != 0) {
            continue; /* Without a response, the bench or node stops the robot. */
        }
        packet_answer(answer, ARM_NV, head.sequence, torque);
        if (sendto(bridge, answer, sizeof answer, 0, (struct sockaddr *)&from, size) < 0) {
            return fail("sendto");
        }
    }
}
