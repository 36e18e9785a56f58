# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
# rbd_ros in a container: docker build --tag rbd_ros .
# Another distribution of ROS 2: docker build --build-arg ROS_DISTRO=humble --tag rbd_ros .
ARG ROS_DISTRO=jazzy
FROM ros:${ROS_DISTRO}
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /ws

# The manifest first: dependencies are installed again only if it changes.
COPY package.xml src/rbd_ros/package.xml
RUN apt-get update \
    && rosdep update --rosdistro "$ROS_DISTRO" \
    && rosdep install --from-paths src --ignore-src --default-yes --dependency-types exec \
    && apt-get install --yes --no-install-recommends "ros-$ROS_DISTRO-robot-state-publisher" "ros-$ROS_DISTRO-xacro" \
    && rm -rf /var/lib/apt/lists/*

COPY . src/rbd_ros
RUN . "/opt/ros/$ROS_DISTRO/setup.bash" && colcon build

# Cache of machine code; a volume keeps it between containers.
ENV RBD_ROS_CACHE_DIR=/cache
VOLUME /cache

COPY docker/entrypoint /entrypoint
ENTRYPOINT ["/entrypoint"]
CMD ["ros2", "launch", "rbd_ros", "simulator.launch.py"]
