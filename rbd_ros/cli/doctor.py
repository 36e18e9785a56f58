"""`rbd_ros doctor [robot.urdf]`: what is wrong with a description and the machine, with cures.

Exit code 0: no errors, though there may be warnings; 1: errors.
"""

from __future__ import annotations

import argparse
import json
from typing import Any, Dict, List, Tuple

from rbd_ros.cli.info import add_model_arguments, description, model_options
from rbd_ros.doctor.findings import ERROR, Finding, LEVELS, worst_level
from rbd_ros.doctor.machine import check_machine
from rbd_ros.doctor.urdf_lint import lint_urdf

FORMAT = 'rbd_ros doctor 1'

#: Title of a group of findings, and the findings.
Section = Tuple[str, List[Finding]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros doctor`."""
    add_model_arguments(parser, required=False)
    parser.add_argument('--json', action='store_true', help='print JSON')


def run(arguments: argparse.Namespace) -> int:
    """Look at everything and print the findings.

    :return: 0 if there are no errors, else 1
    :raises ValueError: if there is no such robot
    """
    sections: List[Section] = []
    if arguments.robot is not None:
        source, options = description(arguments.robot), model_options(arguments)
        sections.append((f'robot {arguments.robot}', lint_urdf(source, **options)))
    sections.append(('machine', check_machine()))
    if arguments.json:
        print(json.dumps(summary(sections), indent=2))
    else:
        print('\n'.join(report(sections)))
    return int(any(worst_level(findings) == ERROR for _, findings in sections))


def summary(sections: List[Section]) -> Dict[str, Any]:
    """Findings in the types of JSON.

    :param sections: title and findings of each group
    """
    return {
        'format': FORMAT,
        'level': worst_level(finding for _, findings in sections for finding in findings),
        'sections': [
            {'title': title, 'findings': [finding.as_dict() for finding in findings]}
            for title, findings in sections
        ],
    }


def report(sections: List[Section]) -> List[str]:
    """Lines of a report, the worst of each group first.

    :param sections: title and findings of each group
    """
    lines: List[str] = []
    for title, findings in sections:
        lines += [title]
        for finding in sorted(findings, key=lambda finding: -LEVELS.index(finding.level)):
            lines += [f'  {line}' for line in finding.text()]
        lines += ['']
    every = [finding.level for _, findings in sections for finding in findings]
    counts = (
        f'{every.count(level)} {name}{"" if every.count(level) == 1 else "s"}'
        for level, name in (('error', 'error'), ('warn', 'warning'))
    )
    return [*lines, ', '.join(counts)]
