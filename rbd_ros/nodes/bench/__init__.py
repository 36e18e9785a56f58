"""The bench over ROS: a controller under test that is a process and speaks the topics."""
