"""The `rbd_ros` command: one module a subcommand, loaded when it is named."""
