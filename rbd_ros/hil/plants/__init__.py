# SPDX-License-Identifier: Apache-2.0
"""Plants in place of a simulated robot: FMUs."""
