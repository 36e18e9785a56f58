# SPDX-License-Identifier: Apache-2.0
"""What all nodes share: declarations, parameters, diagnostics, messages, and how they run."""
