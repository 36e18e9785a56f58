# SPDX-License-Identifier: Apache-2.0
"""Parts of the node trajectory_annotator; its declaration is in nodes/trajectory_annotator.py."""
