# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Any change of a description results in a Model or a ModelError, without output."""

import contextlib
import copy
import io
from xml.etree import ElementTree

from hypothesis import given, HealthCheck, settings, strategies as st
from support import example_robots, random_trees

from rbd_ros.model import load_urdf, Model, ModelError

ROBOTS = ('panda', 'ur5_robot', 'solo12', 'double_pendulum', 'so101')
VALUES = (
    '',
    ' ',
    'nan',
    'inf',
    '-inf',
    '1e999',
    '-1e308',
    '1e308',
    '0',
    '-1',
    '1e-320',
    '-0',
    '0 0 0',
    '1 2',
    '1 2 3 4',
    '0,0,0',
    'abc',
    '${x}',
    '$(arg y)',
    '\uff11',
    '1_0',
    '0x10',
    '1' * 500,
    'nan nan nan',
    '1e200 1e200 1e200',
    '1e-200 0 0',
    'fixed',
    'revolute',
    'floating',
    'planar',
    'universe',
    'world',
    'base_link',
    'package://',
    'package://..',
    'file://',
    'http://x',
    'a' * 5000,
)
TAGS = (
    'robot',
    'link',
    'joint',
    'inertial',
    'mass',
    'inertia',
    'origin',
    'axis',
    'parent',
    'child',
    'mimic',
    'limit',
    'dynamics',
    'geometry',
    'mesh',
    'collision',
    'visual',
    'capsule',
    'box',
    'sphere',
    'gazebo',
    'xacro:if',
)
NAMES = ('name', 'type', 'xyz', 'rpy', 'joint', 'link', 'value', 'radius', 'lower', 'quat_xyzw')
CHUNKS = (
    b'<',
    b'>',
    b'&',
    b'"',
    b'\0',
    b'\xff\xfe',
    b'<!--',
    b'-->',
    b'<![CDATA[',
    b'<?xml?>',
    b'&lt;',
    b'&x;',
    b'<a>',
    b'</robot>',
    b'<!DOCTYPE r>',
    b'\xef\xbb\xbf',
)

many = settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def originals():
    texts = [random_trees.mixed_tree(3)]
    paths = example_robots.paths()
    return texts + [paths[name].read_text() for name in ROBOTS if name in paths]


TEXTS = originals()


def outcome(document, **options):
    """Load the document; return a model or a ModelError with a cure."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            assert isinstance(load_urdf(document, **options), Model)
        except ModelError as error:
            assert ';' in str(error), f'no cure in: {error}'
            assert len(str(error)) < 1500
    assert (out.getvalue(), err.getvalue()) == ('', '')


@st.composite
def broken_trees(draw):
    """Return a real description with elements and attributes changed, removed.

    Copied and shuffled.
    """
    root = ElementTree.fromstring(draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 4))):
        elements = list(root.iter())
        element = draw(st.sampled_from(elements))
        kind = draw(
            st.sampled_from(
                ('set', 'set', 'copy value', 'drop', 'remove', 'graft', 'tag', 'add', 'turn')
            )
        )
        if kind in ('set', 'copy value', 'drop') and element.attrib:
            name = draw(st.sampled_from(sorted(element.attrib)))
            if kind == 'set':
                element.set(name, draw(st.sampled_from(VALUES)))
            elif kind == 'drop':
                del element.attrib[name]
            else:
                values = list(draw(st.sampled_from(elements)).attrib.values())
                element.set(name, draw(st.sampled_from(values or ['x'])))
        elif kind == 'remove' and len(element):
            element.remove(draw(st.sampled_from(list(element))))
        elif kind == 'graft':
            branch = draw(st.sampled_from(elements))
            if branch is not root:
                element.append(copy.deepcopy(branch))
        elif kind == 'tag':
            element.tag = draw(st.sampled_from(TAGS))
        elif kind == 'add':
            name, value = draw(st.sampled_from(NAMES)), draw(st.sampled_from(VALUES))
            ElementTree.SubElement(element, draw(st.sampled_from(TAGS)), {name: value})
        else:
            element[:] = reversed(element)
    return ElementTree.tostring(root, encoding='unicode')


@st.composite
def broken_bytes(draw):
    """Return a real description with bytes changed, removed and inserted."""
    data = bytearray(draw(st.sampled_from(TEXTS)).encode())
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        kind = draw(st.sampled_from(('set', 'delete', 'insert', 'cut')))
        if kind == 'set':
            data[at : at + 1] = bytes([draw(st.integers(0, 255))])
        elif kind == 'delete':
            del data[at : at + draw(st.sampled_from((1, 2, 30, 1000)))]
        elif kind == 'insert':
            data[at:at] = draw(st.sampled_from(CHUNKS))
        else:
            del data[at:]
    return bytes(data)


@many
@given(document=broken_trees(), floating_base=st.booleans(), strict=st.booleans())
def test_a_description_with_broken_elements_is_a_model_or_a_model_error(
    document, floating_base, strict
):
    outcome(document, floating_base=floating_base, strict=strict)


@many
@given(document=broken_bytes())
def test_a_description_with_broken_bytes_is_a_model_or_a_model_error(document):
    outcome(document)


@many
@given(
    document=st.one_of(
        st.text(),
        st.binary(),
        st.text().map('<{}'.format),
        st.text().map('<robot name="r"><link name="{}"/></robot>'.format),
    )
)
def test_any_text_or_bytes_is_a_model_or_a_model_error(document):
    outcome(document)
