# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Invalid descriptions are rejected by a ModelError that names the element and the cure."""

import resource
import time

import pytest
from support.urdf_text import chain, INERTIA, inertial, joint, LIMIT, link, one_joint, robot

from rbd_ros.model import load_urdf, ModelError
from rbd_ros.model.urdf.urdf_document import MAX_BYTES, MAX_ELEMENTS

BOMB = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">'
    + ''.join(f'<!ENTITY lol{i} "{f"&lol{i - 1 or str()};" * 10}">' for i in range(1, 10))
    + ']><robot name="&lol9;"><link name="a"/></robot>'
)
EXTERNAL = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="&x;"/>'
PARAMETER = '<!DOCTYPE r [<!ENTITY % p SYSTEM "http://localhost/x"> %p;]><robot name="r"/>'

# error: (document, words of the message)
DOCUMENTS = {
    'empty string': ('', ['empty', 'path']),
    'blanks': (' \n\t', ['empty']),
    'not XML': ('hello\nworld', ['neither XML']),
    'truncated in a tag': (
        '<robot name="r"><link name="arm"><inertial><mass val',
        ['inertial', "'arm'", 'truncated'],
    ),
    'truncated between tags': (
        '<robot name="r"><link name="arm"><inertial>',
        ['inertial', "'arm'", 'truncated'],
    ),
    'mismatched tags': (
        '<robot name="r"><link name="arm"></joint></robot>',
        ["'arm'", 'mismatched'],
    ),
    'two roots': ('<robot name="r"/><robot name="s"/>', ['junk']),
    'wrong root': ('<machine><link name="a"/></machine>', ['<machine>', '<robot>']),
    'SDF': ('<sdf version="1.7"/>', ['<sdf>', 'convert']),
    'empty robot': ('<robot/>', ['<robot>', 'link']),
    'a mass beyond all robots': (
        f'<robot name="r"><link name="arm">{inertial(1e300)}</link></robot>',
        ["'arm'", 'too large', 'give at most', 'kg'],
    ),
    'no links': ('<robot name="r"><material name="m"/></robot>', ['<link>']),
    'nameless robot': ('<robot><link name="a"/></robot>', ['<robot>', "'name'"]),
    'entity bomb': (BOMB, ['DOCTYPE', 'remove']),
    'external entity': (EXTERNAL, ['DOCTYPE', 'remove']),
    'external document type': (PARAMETER, ['DOCTYPE', 'remove']),
    'undefined entity': ('<robot name="r">&nope;<link name="a"/></robot>', ['entity']),
    'control character': ('<robot name="r\x01"><link name="a"/></robot>', ['UTF-8']),
    'NUL in text': ('<robot name="r"><link name="a\0"/></robot>', ['invalid token']),
    'lone surrogate': ('<robot name="\ud800"/>', ['UTF-8']),
    'NUL in a path': ('a\0.urdf', ["'a\\x00.urdf'"]),
    'latin-1 as UTF-8': (b'<robot name="\xe9"><link name="a"/></robot>', ['UTF-8']),
    'unknown encoding': (
        b'<?xml version="1.0" encoding="klingon"?><robot name="r"/>',
        ['klingon', 'UTF-8'],
    ),
    'codec that is no encoding': (
        b'<?xml version="1.0" encoding="hex"?><robot name="r"/>',
        ['UTF-8'],
    ),
    'multi-byte encoding': (
        b'<?xml version="1.0" encoding="gb18030"?><robot name="r"/>',
        ['UTF-8'],
    ),
    'deep nesting': ('<robot name="r">' + '<a>' * 100_000, ['nested', 'deeper']),
    'xacro expression': (
        robot(link('a', '<inertial><mass value="${m}"/></inertial>')),
        ["'a'", '${m}', 'run xacro'],
    ),
    'xacro argument': (robot(link('$(arg prefix)a')), ['$(arg prefix)', 'run xacro']),
    'None': (None, ['NoneType']),
    'number': (42, ['int']),
    'long nonsense': ('x' * 5000, ['neither XML', '5000']),
    'missing file': ('/nonexistent/robot.urdf', ["'/nonexistent/robot.urdf'", 'no file']),
    'device': ('/dev/zero', ["'/dev/zero'", 'regular file']),
}

TREES = {
    'two roots': (robot(link('a'), link('b')), ["'a'", "'b'", 'connect']),
    'disconnected cycle': (
        robot(link('a'), link('b'), link('c'), joint('j', 'b', 'c'), joint('k', 'c', 'b')),
        ["'b'", "'c'", "'j'", "'k'", 'cycle'],
    ),
    'all in a cycle': (
        robot(link('a'), link('b'), joint('j', 'a', 'b'), joint('k', 'b', 'a')),
        ['cycle', "'j'"],
    ),
    'joint to itself': (robot(link('a'), joint('j', 'a', 'a')), ["'j'", "'a'", 'itself']),
    'two parents': (
        robot(link('a'), link('b'), link('c'), joint('j', 'a', 'c'), joint('k', 'b', 'c')),
        ["'c'", "'j'", "'k'", 'remove one'],
    ),
    'unknown parent': (robot(link('a'), joint('j', 'nope', 'a')), ["'j'", 'parent', "'nope'"]),
    'unknown child': (robot(link('a'), joint('j', 'a', 'nope')), ["'j'", 'child', "'nope'"]),
    'no parent': (
        robot(link('a'), '<joint name="j" type="fixed"><child link="a"/></joint>'),
        ["'j'", '<parent>'],
    ),
    'no child': (
        robot(link('a'), '<joint name="j" type="fixed"><parent link="a"/></joint>'),
        ["'j'", '<child>'],
    ),
    'two parents elements': (
        one_joint(inside='<parent link="b"/>' + LIMIT),
        ["'j'", '<parent>', 'more than one'],
    ),
    'duplicate link': (robot(link('a'), link('a')), ["'a'", 'twice']),
    'duplicate joint': (
        robot(link('a'), link('b'), link('c'), joint('j', 'a', 'b'), joint('j', 'a', 'c')),
        ["'j'", 'twice'],
    ),
    'nameless link': ('<robot name="r"><link/></robot>', ['link', "'name'"]),
    'nameless joint': (
        robot(
            link('a'), link('b'), '<joint type="fixed"><parent link="a"/><child link="b"/></joint>'
        ),
        ['joint', "'name'"],
    ),
}

JOINTS = {
    'no type': (
        robot(link('a'), link('b'), '<joint name="j"><parent link="a"/><child link="b"/></joint>'),
        ["'j'", "'type'"],
    ),
    'unknown type': (one_joint('screw'), ["'j'", "'screw'", 'revolute, continuous']),
    'wrong case': (one_joint('Revolute'), ["'j'", "'Revolute'"]),
    'ball joint': (one_joint('spherical'), ["'j'", 'three revolute']),
    'zero axis': (one_joint(axis='0 0 0'), ["'j'", 'axis', 'unit vector']),
    'NaN axis': (one_joint(axis='nan 0 1'), ["'j'", '<axis>', "'nan'"]),
    'short axis': (one_joint(axis='0 1'), ["'j'", '<axis>', '3 numbers']),
    'long axis': (one_joint(axis='0 1 0 1'), ["'j'", '<axis>', '3 numbers']),
    'axis without xyz': (
        one_joint(axis=None, inside='<axis/>' + LIMIT),
        ["'j'", '<axis>', "'xyz'"],
    ),
    'commas': (
        one_joint(inside='<origin xyz="0, 0, 1"/>' + LIMIT),
        ["'j'", '<origin>', "'0, 0, 1'"],
    ),
    'infinite origin': (
        one_joint(inside='<origin xyz="0 0 inf"/>' + LIMIT),
        ["'j'", '<origin>', 'finite'],
    ),
    'overflow': (
        one_joint(inside='<origin xyz="0 0 1e999"/>' + LIMIT),
        ["'j'", '<origin>', 'too large'],
    ),
    'word for a number': (
        one_joint(inside='<origin rpy="0 0 pi"/>' + LIMIT),
        ["'j'", '<origin>', "'pi'"],
    ),
    'lower above upper': (
        one_joint(inside='<limit lower="2" upper="1" effort="1" velocity="1"/>'),
        ["'j'", 'lower', 'upper'],
    ),
    'negative effort': (
        one_joint(inside='<limit lower="0" upper="1" effort="-1" velocity="1"/>'),
        ["'j'", 'effort'],
    ),
    'negative velocity': (
        one_joint(inside='<limit lower="0" upper="1" effort="1" velocity="-1"/>'),
        ["'j'", 'velocity'],
    ),
    'NaN limit': (
        one_joint(inside='<limit lower="nan" upper="1" effort="1" velocity="1"/>'),
        ["'j'", 'lower'],
    ),
    'empty limit': (
        one_joint(inside='<limit lower="" upper="1" effort="1" velocity="1"/>'),
        ["'j'", 'lower'],
    ),
    'negative damping': (one_joint(inside='<dynamics damping="-1"/>' + LIMIT), ["'j'", 'damping']),
    'negative friction': (
        one_joint(inside='<dynamics friction="-1"/>' + LIMIT),
        ["'j'", 'friction'],
    ),
    'two limits': (one_joint(inside=LIMIT + LIMIT), ["'j'", '<limit>', 'keep one']),
    'quaternion': (
        one_joint(inside='<origin quat_xyzw="0 0 0 1"/>' + LIMIT),
        ["'j'", 'quat_xyzw', 'rpy'],
    ),
    'overflowing place': (
        chain('fixed', 'fixed', 'revolute', inside='<origin xyz="1e308 0 0"/>' + LIMIT),
        ["'j1'", 'too large'],
    ),
}

LINKS = {
    'NaN mass': (robot(link('a', inertial(mass='nan'))), ["'a'", '<mass>', 'finite']),
    'infinite mass': (robot(link('a', inertial(mass='inf'))), ["'a'", '<mass>', 'finite']),
    'mass without value': (
        robot(link('a', f'<inertial><mass/>{INERTIA}</inertial>')),
        ["'a'", '<mass>', "'value'"],
    ),
    'mass with a unit': (robot(link('a', inertial(mass='1kg'))), ["'a'", '<mass>', "'1kg'"]),
    'inertial without mass': (
        robot(link('a', f'<inertial>{INERTIA}</inertial>')),
        ["'a'", '<mass>'],
    ),
    'inertial without inertia': (
        robot(link('a', '<inertial><mass value="1"/></inertial>')),
        ["'a'", '<inertia>'],
    ),
    'missing moment': (
        robot(
            link(
                'a',
                '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
                'iyz="0"/></inertial>',
            )
        ),
        ["'a'", '<inertia>', "'izz'"],
    ),
    'NaN moment': (
        robot(link('a', inertial(inertia=(1, 0, 'nan', 1, 0, 1)))),
        ["'a'", '<inertia>', 'ixz'],
    ),
    'Python number': (robot(link('a', inertial(mass='1_000'))), ["'a'", '<mass>', "'1_000'"]),
    'foreign digits': (robot(link('a', inertial(mass='\uff11'))), ["'a'", '<mass>']),
    'very long number': (
        robot(link('a', inertial(mass='1' * 10_000))),
        ["'a'", '<mass>', 'too long'],
    ),
    'overflowing inertia': (
        robot(link('a', inertial(mass='1e300', xyz='1e100 0 0'))),
        ["'a'", 'too large'],
    ),
    'two inertials': (
        robot(link('a', inertial() + inertial())),
        ["'a'", '<inertial>', 'keep one'],
    ),
    'collision without geometry': (robot(link('a', '<collision/>')), ["'a'", '<geometry>']),
    'empty geometry': (
        robot(link('a', '<collision><geometry/></collision>')),
        ["'a'", '<geometry>', 'no shape', '<collision>'],
    ),
    'negative radius': (
        robot(link('a', '<collision><geometry><sphere radius="-1"/></geometry></collision>')),
        ["'a'", 'collision', 'negative'],
    ),
    'box of one number': (
        robot(link('a', '<collision><geometry><box size="1"/></geometry></collision>')),
        ["'a'", '<box>', '3 numbers'],
    ),
    'mesh without file': (
        robot(link('a', '<collision><geometry><mesh/></geometry></collision>')),
        ["'a'", '<mesh>', "'filename'"],
    ),
    'scale of one number': (
        robot(
            link(
                'a',
                '<collision><geometry><mesh filename="m.stl" scale="0.001"/></geometry>'
                '</collision>',
            )
        ),
        ["'a'", '<mesh>', 'scale'],
    ),
}

TABLE = [
    pytest.param(*case, id=f'{group}: {name}')
    for group, cases in (
        ('document', DOCUMENTS),
        ('tree', TREES),
        ('joint', JOINTS),
        ('link', LINKS),
    )
    for name, case in cases.items()
]


@pytest.mark.parametrize('document, words', TABLE)
def test_a_bad_description_is_rejected_by_name_with_the_cure(document, words):
    with pytest.raises(ModelError) as caught:
        load_urdf(document)
    message = str(caught.value)
    for word in words:
        assert any(choice in message for choice in word.split('|')), message
    assert ';' in message, f'no cure in: {message}'
    assert len(message) < 1000


@pytest.mark.parametrize(
    'document',
    [
        pytest.param('a' * 100_000_000, id='letters'),
        pytest.param('<' * 100_000_000, id='brackets'),
        pytest.param(' ' * 100_000_000, id='blanks'),
        pytest.param(b'<a>' * 33_000_000, id='bytes'),
        pytest.param('<robot name="r">' + '<a/>' * 4_000_000, id='elements'),
        pytest.param('<robot name="r">' + '<link name="a"/>' * 1_000_000, id='links'),
        pytest.param(
            '<robot name="r" ' + ' '.join(f'a{i}=""' for i in range(1_000_000)) + '/>',
            id='attributes',
        ),
    ],
)
def test_huge_invalid_input_is_rejected_in_bounded_time_and_memory(document):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    with pytest.raises(ModelError):
        load_urdf(document)
    # generous bounds that only runaway work breaks: seconds on any machine, hundreds of MB
    assert time.process_time() - start < 20.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000


def test_a_file_of_100_mb_is_rejected_unread(tmp_path):
    path = tmp_path / 'huge.urdf'
    with open(path, 'wb') as file:
        file.truncate(100_000_000)
    with pytest.raises(ModelError, match=f'huge.urdf.*{MAX_BYTES}'):
        load_urdf(path)


def test_a_directory_an_empty_and_a_binary_file_are_rejected_by_name(tmp_path):
    (tmp_path / 'empty.urdf').write_bytes(b'')
    (tmp_path / 'binary.urdf').write_bytes(bytes(range(256)) * 10)
    for name, word in (('', 'directory'), ('empty.urdf', 'empty'), ('binary.urdf', 'XML')):
        with pytest.raises(ModelError, match=word) as caught:
            load_urdf(tmp_path / name)
        assert name in str(caught.value)


def test_the_line_of_the_fault_is_named():
    text = robot('\n', link('a'), '\n\n', link('b', '<inertial><mass value="x"/></inertial>'))
    with pytest.raises(ModelError, match=r'line 4'):
        load_urdf(text)


def test_the_largest_accepted_tree_is_read_without_recursion():
    n = MAX_ELEMENTS // 5
    links = ''.join(f'<link name="l{i}"/>' for i in range(n))
    joints = ''.join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(n - 1)
    )
    assert len(load_urdf(robot(links, joints)).links) == n


def test_a_long_chain_of_mimics_is_resolved_without_recursion():
    n = 5000
    links = ''.join(f'<link name="l{i}"/>' for i in range(n))
    joints = ''.join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/>'
        + (f'<mimic joint="j{i + 1}" multiplier="-1"/>' if i < n - 2 else '')
        + '</joint>'
        for i in range(n - 1)
    )
    model = load_urdf(robot(links, joints))
    assert model.nv == 1
    assert {abs(coupling.ratio) for coupling in model.couplings} == {1.0}
