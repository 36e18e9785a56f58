"""What `rbd_ros doctor` looks at: the description of a robot and the machine.

urdf_lint.py knows models, machine.py this computer. All checks are functions that return findings
(findings.py), which the command line prints.
"""
