// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
/* Packets of the HIL bench and of the node udp_bridge (docs/hil_controllers.md), read and written
 * byte by byte, for any byte order. */
#ifndef UDP_PACKETS_H
#define UDP_PACKETS_H

#include <stdint.h>
#include <string.h>

#define PACKET_VERSION 1
#define PACKET_BEGINS 1u /* flag: a new motion begins; reset the controller */
#define STATE_SIZE(n) (32 + 40 * (size_t)(n))
#define ANSWER_SIZE(n) (16 + 8 * (size_t)(n))

static inline uint64_t packet_integer(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int k = bytes - 1; k >= 0; --k) value = value << 8 | at[k];
    return value;
}

static inline void packet_put(unsigned char *at, int bytes, uint64_t value)
{
    for (int k = 0; k < bytes; ++k, value >>= 8) at[k] = (unsigned char)value;
}

static inline void packet_doubles(const unsigned char *at, int count, double values[])
{
    for (int k = 0; k < count; ++k) {
        const uint64_t bits = packet_integer(at + 8 * k, 8);
        memcpy(&values[k], &bits, 8);
    }
}

/* Header of a state */
struct state_head {
    uint64_t sequence; /* to be returned */
    int64_t stamp;     /* [ns] */
    uint32_t flags;
};

/* Read the header of a state; return whether the packet is one of `joints` joints. */
static inline int packet_is_state(const unsigned char *data, size_t size, int joints,
                                  struct state_head *head)
{
    if (size != STATE_SIZE(joints) || memcmp(data, "RBDS", 4) != 0) return 0;
    if (packet_integer(data + 4, 2) != PACKET_VERSION) return 0;
    if (packet_integer(data + 6, 2) != (uint64_t)joints) return 0;
    head->sequence = packet_integer(data + 8, 8);
    head->stamp = (int64_t)packet_integer(data + 16, 8);
    head->flags = (uint32_t)packet_integer(data + 24, 4);
    return 1;
}

/* Read vector 0 position, 1 velocity, 2 to 4 desired position, velocity or acceleration. */
static inline void packet_vector(const unsigned char *data, int joints, int which, double values[])
{
    packet_doubles(data + 32 + 8 * joints * which, joints, values);
}

/* Write the response to a state, of ANSWER_SIZE(joints) bytes. */
static inline void packet_answer(unsigned char *data, int joints, uint64_t sequence,
                                 const double torque[])
{
    memcpy(data, "RBDA", 4);
    packet_put(data + 4, 2, PACKET_VERSION);
    packet_put(data + 6, 2, (uint64_t)joints);
    packet_put(data + 8, 8, sequence);
    for (int k = 0; k < joints; ++k) {
        uint64_t bits;
        memcpy(&bits, &torque[k], 8);
        packet_put(data + 16 + 8 * k, 8, bits);
    }
}

#endif
