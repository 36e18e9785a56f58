"""Pages of the public API, docs/api/*.md: what is on them, and what each page's examples start from.

An example is the end of a docstring, as one types it and as it answers. The pages are made of the
docstrings (scripts/update_python_api), and test_api_examples.py runs them.
"""

from __future__ import annotations

import doctest
from functools import cached_property
from importlib import import_module
import inspect
from pathlib import Path
import pkgutil
import re
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from rbd_ros.algorithms.declaration import Declaration, declaration_of
from rbd_ros.robot import reference
from rbd_ros.robot.compiled import Compiled

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'docs' / 'api'
ENTRY = ROOT / 'docs' / 'python_api.md'

ARM = """\
import numpy as np
from rbd_ros import Robot

np.set_printoptions(precision=3, suppress=True)
robot = Robot.from_urdf('urdf/six_axis_arm.urdf')
q = np.array([0.0, -0.5, 1.5, 0.5, 1.0, 0.0])  # [rad]
v = np.array([0.5, -0.2, 0.3, 0.0, 0.4, 1.0])  # [rad/s]
a = np.array([1.0, 0.0, -2.0, 0.5, 0.0, 3.0])  # [rad/s^2]
tau = robot.inverse_dynamics(q, v, a)  # [N m]
"""
FLOATING = """\
import numpy as np
from rbd_ros import Robot

np.set_printoptions(precision=3, suppress=True)
robot = Robot.from_urdf('urdf/six_axis_arm.urdf', floating_base=True)
q, v = robot.neutral(), np.zeros(robot.nv)  # of the base first, then of the six joints
q[7:], v[6:] = [0.0, -0.5, 1.5, 0.5, 1.0, 0.0], [0.5, -0.2, 0.3, 0.0, 0.4, 1.0]
qdd, tau = np.zeros(6), np.array([0.0, 5.0, 2.0, 0.0, 0.5, 0.0])  # of the joints alone
"""
MECHANISM = """\
from rbd_ros.model import Frame, LoopJoint
from rbd_ros.model.joints import Revolute
from rbd_ros.spatial import PluckerTransform

# Three links of 0.3 m, 0.25 m and 0.22 m, the last one hinged to a pivot on the ground.
chain = Robot.from_urdf('urdf/planar_3r.urdf').model
ground = chain.frame('plane_link')
pivot = Frame(ground.body, PluckerTransform.translation((0.25, 0.08, 0.0)) * ground.placement)
hinge = LoopJoint('hinge', pivot, chain.frame('tip_link'), Revolute((0.0, 0.0, 1.0)))
"""
FOUR_BAR = (
    """\
import numpy as np
from rbd_ros import Robot
"""
    + MECHANISM
    + """\
np.set_printoptions(precision=3, suppress=True)
robot = Robot(chain.with_loops([hinge]))
q = np.array([np.pi / 2, -np.pi / 2, -np.pi / 2])  # up, right, down to the pivot [rad]
v = np.array([1.1, -1.1, 1.5])  # [rad/s]
tau = np.zeros(3)  # [N m]
"""
)
ALGORITHMS = (
    ARM
    + """\
model = robot.model  # texts take a model, and lists of floats

"""
    + MECHANISM
    + """\
four_bar = Robot(chain.with_loops([hinge]))
q4 = np.array([np.pi / 2, -np.pi / 2, -np.pi / 2])  # up, right, down to the pivot [rad]
v4 = np.array([1.1, -1.1, 1.5])  # [rad/s]
terms = four_bar.loops.equations_of_motion(q4, v4, [0.0])  # H, C, K, k
"""
)

#: What examples of a page start from, where that is not `ARM`.
SETUPS = {
    'floating_base': FLOATING,
    'loops': FOUR_BAR,
    'algorithms': ALGORITHMS,
    'spatial': 'import numpy as np\n\nnp.set_printoptions(precision=3, suppress=True)\n',
    'model': ARM + 'model = robot.model\n',
}

#: Objects beside those of `reference.HOMES` that belong to a page of a family.
MORE = {
    'hybrid': ('rbd_ros.robot.families.hybrid:HybridFunctions',),
    'loops': ('rbd_ros.robot.families.explicit_loops:ExplicitLoops',),
    'regressors': ('rbd_ros.algorithms.regressors.base_parameters:BaseParameters',),
}

#: Pages of modules: what is defined in them and has no underscore is public.
MODULES = {
    'simulation': ('rbd_ros.simulation.simulator', 'rbd_ros.simulation.world', 'rbd_ros.contact.ground'),
    'model': (
        'rbd_ros.model.urdf.reader',
        'rbd_ros.model.dh',
        'rbd_ros.model.random_models',
        'rbd_ros.model.assembly',
        'rbd_ros.model.graph',
        'rbd_ros.model.floating_base',
        'rbd_ros.model.equivalent',
        'rbd_ros.model.planar',
        'rbd_ros.model.joint_forces',
        'rbd_ros.model.parts',
        'rbd_ros.model.geared_tree',
        'rbd_ros.model.model',
    ),
    'spatial': (
        'rbd_ros.spatial.vectors',
        'rbd_ros.spatial.transform',
        'rbd_ros.spatial.inertia',
        'rbd_ros.spatial.inverse_inertia',
        'rbd_ros.spatial.rotation',
        'rbd_ros.spatial.screws',
        'rbd_ros.spatial.subspaces',
        'rbd_ros.spatial.moving_frames',
        'rbd_ros.spatial.axial_screw',
        'rbd_ros.spatial.planar_vectors',
        'rbd_ros.spatial.planar_transform',
        'rbd_ros.spatial.planar_inertia',
    ),
    'export': ('rbd_ros.robot.export', 'rbd_ros.robot.diagnostics'),
}

TITLES = {
    'robot': ('Robot', 'configurations, dynamics, kinematics, kernels'),
    'frame': ('Frames', 'motion of a link or joint frame, its Jacobians, inertia felt there'),
    'derivatives': ('Derivatives', 'the dynamics together with their derivatives'),
    'hybrid': ('Hybrid dynamics', 'forces given at some joints, accelerations at the others'),
    'loops': ('Kinematic loops', 'constraints, ranks, forward dynamics of closed loops'),
    'regressors': ('Regressors', 'linear in the inertial parameters; base parameters'),
    'articulated': ('Articulated bodies', 'handles, assemblies, divide and conquer'),
    'floating_base': ('Floating bases', 'the base apart from the joints'),
    'centroidal': ('Centroidal momentum', 'momentum about the centre of mass'),
    'denoc': ('DeNOC', 'the decoupled natural orthogonal complement'),
    'simulation': ('Simulation', '`Simulator`, `World`, the ground'),
    'model': ('Models', 'readers of URDF and DH tables, random models, assembly, variants'),
    'spatial': ('Spatial vector algebra', 'vectors, transforms, inertias, screws, planar algebra'),
    'algorithms': ('Algorithms', 'what is called on a model, and by `Robot.kernel`'),
    'export': ('Export and diagnostics', 'C99 libraries; what of a model costs accuracy'),
}

#: Public by their name, but of no use alone, with the reason.
NOT_FOR_USERS = {
    'rbd_ros.simulation.world:World.failure': 'called by whoever steps by machine code',
    'rbd_ros.simulation.world:World.allow_external_forces': '`Simulator.apply_wrench` does it',
    'rbd_ros.simulation.world:Steps': 'what compiled loops call',
    'rbd_ros.simulation.simulator:Snapshot': 'opaque',
    'rbd_ros.spatial.planar_vectors:vector2': 'checks of arguments',
    'rbd_ros.spatial.planar_vectors:dot2': 'arithmetic of its file',
    'rbd_ros.model.floating_base:not_floating': 'checks of arguments',
    'rbd_ros.model.dh:checked': 'checks of arguments',
}

#: Files of rbd_ros/algorithms that algorithms are made of.
PARTS_OF_ALGORITHMS = {
    'articulated_body.aba',
    'articulated_body.bodies_in_base',
    'articulated_body.matrices',
    'closed_loops.jets',
    'declaration',
    'denoc.links',
    'floating_base.floating_base',
    'inverse_dynamics.forces',
    'kinds',
}


class Entry(NamedTuple):
    """A name on a page.

    :param call: how a user writes it
    :param path: module and qualified name
    :param value: function, property or class
    :param computed: what it computes, of a method that becomes machine code
    :param owner: class that it is a member of
    """

    call: str
    path: str
    value: Any
    computed: Optional[reference.PublicFunction] = None
    owner: Optional[type] = None

    @property
    def text(self) -> str:
        """Its docstring."""
        return inspect.getdoc(self.value) or ''

    @property
    def example(self) -> str:
        """Its example: the end of its docstring, '' if there is none."""
        start = self.text.find('>>> ')
        return '' if start < 0 else self.text[start:].rstrip()

    @property
    def is_shown(self) -> bool:
        """Whether its class has an example that uses it."""
        name = self.path.rpartition('.')[2]
        text = '' if self.owner is None else inspect.getdoc(self.owner) or ''
        return bool(re.search(rf'>>> .*[.]{name}\b', text)) and not self.computed

    @property
    def help(self) -> str:
        """What to do where there is none."""
        return (
            f'{self.path} has no example. Put one at the end of its docstring, one to three lines '
            "with what they give, of the names that the page's examples start from "
            f'(test/support/api_pages.py), then run scripts/update_python_api:\n\n'
            '    >>> robot.mass_matrix(q).shape\n    (6, 6)\n'
        )


class Page:
    """A page: docs/api/<name>.md.

    :param name: its name
    """

    def __init__(self, name: str):
        self.name = name
        self.title, self.summary = TITLES.get(name, (name, f'`robot.{name}`'))
        self.setup = SETUPS.get(name, ARM)

    @cached_property
    def entries(self) -> List[Entry]:
        """All that is public there."""
        found = [*_of_family(self.name)]
        for module in MODULES.get(self.name, ()):
            found.extend(_of_module(import_module(module)))
        if self.name == 'algorithms':
            found.extend(_of_algorithms())
        return [entry for entry in found if entry.path not in NOT_FOR_USERS]

    @property
    def missing(self) -> List[Entry]:
        """What should have an example and has none.

        A class needs one if a member of it has none of its own.
        """
        found = [entry for entry in self.entries if not entry.example and not entry.is_shown]
        used = {entry.owner for entry in self.entries if not entry.example}
        owners = {entry.owner for entry in self.entries}
        return [e for e in found if e.value not in owners or (e.value in used)]

    @property
    def text(self) -> str:
        """Text of the page, in Markdown."""
        parts = [
            f'# {self.title}',
            'Written by scripts/update_python_api from the docstrings, whose examples the suite '
            'runs. [Python API](../python_api.md) has the conventions. Run from the root of the '
            'repository, after',
            f'```python\n{self.setup}```',
        ]
        for entry in self.entries:
            if entry.example or entry.owner is None:
                parts.extend(_section(entry))
        return '\n\n'.join(parts) + '\n'


def pages() -> List[Page]:
    """All pages: the families in the order of `reference.HOMES`, then the rest."""
    families = [_family(home) for home, _ in reference.HOMES]
    return [Page(name) for name in dict.fromkeys([*families, *MODULES, 'algorithms'])]


def contents() -> str:
    """Table of the pages, for docs/python_api.md."""
    rows = [f'| [{p.title}](api/{p.name}.md) | {p.summary} | {_shown(p)} |' for p in pages()]
    return '| page | what | examples |\n|---|---|---|\n' + '\n'.join(rows) + '\n'


def _shown(page: Page) -> int:
    return sum(1 for entry in page.entries if entry.example)


def _section(entry: Entry) -> Iterator[str]:
    yield f'## `{entry.call}`'
    yield _flow(entry.text.partition('>>> ')[0].partition('\n\n')[0])
    if entry.computed:
        yield f'{entry.computed.results} ({entry.computed.algorithm.source})'
    if entry.example:
        yield f'```pycon\n{entry.example}\n```'


def _flow(text: str) -> str:
    return ' '.join(text.split())


def _family(home: str) -> str:
    return re.match(r'\w*', home).group() or 'robot'


def _of_family(name: str) -> Iterator[Entry]:
    computed = {f.method: f for f in reference.public_functions()}
    objects = [(home, kind) for home, kind in reference.HOMES if _family(home) == name]
    for path in MORE.get(name, ()):
        module, _, attribute = path.partition(':')
        kind = getattr(import_module(module), attribute)
        objects.append((f'{name}.' if issubclass(kind, Compiled) or 'Functions' in attribute else '', kind))
    for home, kind in objects:
        shown = f'robot.{home}' if home or kind is dict(reference.HOMES)[''] else ''
        yield from _of_class(kind, shown, computed)


def _of_class(kind: type, home: str, computed: Dict[Any, Any] = {}) -> Iterator[Entry]:
    whole = Entry(home.rstrip('.') or kind.__name__, f'{kind.__module__}:{kind.__qualname__}', kind)
    members = [*_members(kind, home, computed)]
    if members or whole.example or not issubclass(kind, tuple):  # a result is shown by its function
        yield whole
    yield from members


def _members(kind: type, home: str, computed: Dict[Any, Any]) -> Iterator[Entry]:
    ours = [part for part in kind.__mro__ if part.__module__.startswith('rbd_ros.')]
    elsewhere = {module for modules in MODULES.values() for module in modules}
    parts = [kind, *(x for x in ours[1:] if x is not Compiled and x.__module__ not in elsewhere)]
    members: Dict[str, Any] = {}
    for part in parts:
        for name, value in vars(part).items():
            members.setdefault(name, value)
    fields = getattr(kind, '_fields', ())
    for name, value in members.items():
        inner = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        is_property = isinstance(value, (property, cached_property))
        if name.startswith('_') or name in fields or not (is_property or inspect.isfunction(inner)):
            continue
        if is_property and name in {_family(home) for home, _ in reference.HOMES}:
            continue  # a page of its own
        path = f'{kind.__module__}:{kind.__qualname__}.{name}'
        call = f'{home or kind.__name__ + "."}{name}'
        if not is_property:
            call += _arguments(inner, skip=not isinstance(value, staticmethod))
        yield Entry(call, path, inner, computed.get(inner), kind)


def _arguments(function: Any, skip: bool) -> str:
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    shown = []
    for x in parameters:
        star = {x.VAR_POSITIONAL: '*', x.VAR_KEYWORD: '**'}.get(x.kind, '')
        if x.name != 'out':
            plain = isinstance(x.default, (int, float, str, bool, type(None), tuple))
            default = '' if x.default is x.empty else f'={x.default!r}' if plain else '=...'
            shown.append(f'{star}{x.name}{default}')
    return f'({", ".join(shown)})'


def _of_module(module: Any) -> Iterator[Entry]:
    for name, value in vars(module).items():
        if name.startswith('_') or getattr(value, '__module__', None) != module.__name__:
            continue
        path = f'{module.__name__}:{name}'
        if path in NOT_FOR_USERS:
            continue
        if inspect.isclass(value) and not issubclass(value, Exception):
            yield from _of_class(value, '')
        elif inspect.isfunction(value):
            yield Entry(name + _arguments(value, skip=False), path, value)


def _of_algorithms() -> Iterator[Entry]:
    """Declared algorithms that no method computes, and all else that has an example."""
    from rbd_ros import algorithms

    methods = {function.algorithm.name for function in reference.public_functions()}
    for found in pkgutil.walk_packages(algorithms.__path__, f'{algorithms.__name__}.'):
        module = import_module(found.name)
        place = found.name.partition('algorithms.')[2]
        entries: List[Entry] = []
        covered = False
        for name, value in vars(module).items():
            declared = declaration_of(value)
            path = f'{found.name}:{name}'
            if isinstance(value, Declaration) or name.startswith('_'):
                covered = covered or isinstance(value, Declaration)
                continue
            if getattr(value, '__module__', None) != found.name or path in _SHOWN_ELSEWHERE:
                continue
            if declared and declared.name in methods:
                covered = True
                continue
            if not (inspect.isfunction(value) or inspect.isclass(value)):
                continue
            entry = Entry(_call(name, value, declared), path, value)
            if entry.example or declared:
                entries.append(entry)
        is_part = found.ispkg or place in PARTS_OF_ALGORITHMS or place.startswith('array_kinds')
        if not (entries or covered or is_part):
            entries.append(Entry(place, f'{found.name}', module))
        yield from entries


_SHOWN_ELSEWHERE = {path for paths in MORE.values() for path in paths}


def _call(name: str, value: Any, declared: Optional[Declaration]) -> str:
    if declared is not None:
        return f"robot.kernel('{declared.name}')"
    return name if inspect.isclass(value) else name + _arguments(value, skip=False)


# -- running them


class Checker(doctest.OutputChecker):
    """Numbers are right to their last digit, whatever sign a zero has and how NumPy spells them."""

    _NUMBER = re.compile(r'[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?')

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Whether an answer is the one of the docstring."""
        want, got = _plain(want), _plain(got)
        if re.sub(r'\s', '', self._NUMBER.sub('#', want)) != re.sub(r'\s', '', self._NUMBER.sub('#', got)):
            return super().check_output(want, got, optionflags)
        pairs = zip(self._NUMBER.findall(want), self._NUMBER.findall(got))
        return all(abs(float(x) - float(y)) <= _last_digit(x) for x, y in pairs)


def _plain(text: str) -> str:
    text = re.sub(r'np\.(?:float64|int64|bool|str)_?\(([^()]*)\)', r'\1', text)
    return re.sub(r'\bnp\.(True|False)_?', r'\1', text)


def _last_digit(number: str) -> float:
    mantissa, _, exponent = number.partition('e')
    digits = len(mantissa.partition('.')[2])
    whole = '.' not in number and not exponent
    return 0.0 if whole else 0.6 * 10.0 ** (int(exponent or 0) - digits) if digits else 0.6


def run(entry: Entry, names: Dict[str, Any]) -> str:
    """What went wrong in an example, '' if nothing did.

    :param names: what it starts from
    """
    test = doctest.DocTestParser().get_doctest(entry.example, dict(names), entry.path, None, 0)
    report: List[str] = []
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    doctest.DocTestRunner(Checker(), optionflags=flags).run(test, out=report.append)
    asked = test.examples
    if not any(example.want for example in asked):
        report.append(f'{entry.path}: the example does not say what it gives')
    return ''.join(report)
