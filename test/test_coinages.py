# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Docstrings, comments, pages, configuration, identifiers and tests use the field's words.

Each coinage that was replaced is a pattern here, with the field's word as the cure. Text in
backticks, examples and names of fields are exempt, as names or output. Further kinds of texts need
further generators of lines like `prose` and `page`.
"""

import ast
import io
import re
import tokenize

import pytest
from support.source_imports import ROOT

pytestmark = pytest.mark.linter

#: Patterns of replaced words, by the field's word for it.
COINAGES = {
    'impact, impulse': r'\bblows?\b',
    'degree of freedom, DoF': r'(?<!of )(?<!motion )(?<!-)\bfreedoms?\b',
    'reported, published, notified': r'\btold\b',
    'reports, says, names': r'\btells?\b',
    'bitwise identical': r'\bto the bit\b',
    'buffer, package': r'\broom to (work|solve)\b|\bof this room\b|"""room for\b',
    'again, newly': r'\banew\b',
    'anyone who, the caller': r'\bwhoever\b',
    'separated, moved apart': r'\bparted\b',
    'slow path, fast path': r'\b(go|goes|this is|the usual:) the (long|shortest) way\b',
    'known of, declared for': r'\bsaid of\b',
    'contacts, free bodies': r'\bwhat (touches|flies|is pressed)\b',
    'resources': r'\bbelongings\b',
    'rejects, invalid, not supported': r'(?<!connection )\brefus(es?|ed|als?|ing)\b',
}

#: Patterns of replaced words in messages, by the plain words for it.
RIDDLES = {
    'is not a': r'(?<!there )\bis no [a-z]',
    'no node, no program': r'\bnobody\b|\bsomebody\b',
    'its own, the user': r'\bof (one.s|yours|its|their) own\b',
    'reported, known': r'\b(told|said of)\b',
    'again': r'\banew\b',
    'continues': r'\bgoes on\b',
    'no problem': r'\bnothing to be\b',
    'move freely, movable': r'\bno joint that moves\b',
}

#: Patterns of replaced words in names of tests, which are plain statements too.
NAMED = {
    **COINAGES,
    **RIDDLES,
    'requested, desired': r'\bwant(s|ed)?\b',
    'a noun': r'^(of|who|whatever)\b|\bwhat\b',
    'omitted, except': r'\bleft out\b',
    'gets a warning, with a notice': r'\bwarned of\b|\bsaid so\b',
    'continues, forever': r'\bgo on\b|\bfor ever\b',
}

#: Patterns of replaced words in identifiers.
IDENTIFIERS = {
    **COINAGES,
    'requested, desired': r'\bwant(s|ed)?\b',
    'continues, always': r'\bgoes on\b|\bfor ever\b',
}

#: British spellings, in names as well as in prose; ROS, URDF and SDF spell otherwise.
BRITISH = re.compile(
    r'colour|behaviou?r(?<!behavior)|neighbour|favour|honour|centr(?:e(?!_of_mass)|ing\b)'
    r'|\bmetres?\b|cata(?:logue)|\b(?:cancell|modell|travell|labell|signall)(?:ed|ing)\b'
    r'|licence|\bgrey\b|artefact|judgement|analyse|aluminium'
    r'|(?:character|discret|factor|general|initial|linear|local|normal|optim|parametr|prior(?:it)?'
    r'|quant|random|real|recogn|regular|serial|special|stabil|summar|synchron|vector|visual)'
    r'is(?:e[drs]?|ing|ations?)\b',
    re.IGNORECASE,
)
CANCELLED = re.compile('CancelledError')  # the libraries' spelling

#: Pages that name the coinages, or quote output that is made elsewhere.
LEFT_OUT = {'glossary.md', 'measurements.md', 'python_api.md'}

NAMES = re.compile(r'`[^`]*`|^\s*:\w+ [\w, ]+:')


def sources():
    """Return the files whose docstrings and comments are looked at."""
    found = [path for name in ('rbd_ros', 'launch') for path in (ROOT / name).rglob('*.py')]
    for path in (ROOT / 'scripts').iterdir():
        if path.is_file() and 'python' in path.read_text(encoding='utf-8').partition('\n')[0]:
            found.append(path)
    return sorted(found)


def pages():
    """Return the pages and configuration files that are looked at whole."""
    found = [
        *(ROOT / 'docs').glob('*.md'),
        *(ROOT / 'docs' / 'api').glob('*.md'),
        *(ROOT / 'docs' / 'nodes').glob('*.md'),
        *(ROOT / 'config').rglob('*.yaml'),
    ]
    return sorted(path for path in found if path.name not in LEFT_OUT)


def without_examples(lines):
    """Yield numbered lines but for examples, which end at an empty line."""
    is_example = False
    for number, line in lines:
        is_example = line.strip() != '' and (is_example or line.lstrip(' "').startswith('>>>'))
        if not is_example:
            yield number, line


def prose(source):
    """Yield the lines of a source's docstrings and comments, with their numbers."""
    lines = source.split('\n')
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            first = node.body[0]
            numbers = range(first.lineno, first.end_lineno + 1)
            yield from without_examples((n, lines[n - 1]) for n in numbers)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def messages(source):
    """Yield the texts of a source in exceptions, logs, help and reports, with their numbers."""
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(map(id, node.values))
            parts = [part.value if isinstance(part, ast.Constant) else '_' for part in node.values]
            yield node.lineno, ''.join(parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_source = node.value.lstrip().startswith(('<', '/*'))
            if id(node) not in skipped and node.value.count(' ') > 1 and not is_source:
                yield node.lineno, node.value


def names_of_tests(source):
    """Yield the names of a source's tests as words, with their numbers."""
    for number, line in enumerate(source.split('\n'), 1):
        found = re.match(r'\s*def test_(\w+)', line)
        if found:
            yield number, found[1].replace('_', ' ')


def identifiers(source):
    """Yield the identifiers of a source as words, with their numbers."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and token.string != 'tell':  # a stream's method
            words = re.sub(r'_|(?<=[a-z])(?=[A-Z])', ' ', token.string)
            yield token.start[0], words


def page(text):
    """Yield the lines of a page that are not code, with their numbers."""
    is_code = False
    for number, line in enumerate(text.split('\n'), 1):
        fence = line.lstrip().startswith('```')
        is_code ^= fence
        if not (is_code or fence or line.startswith('    ')):
            yield number, line


def coinages(lines, coined=COINAGES):
    """Yield a complaint for each coinage in some lines."""
    any_of_them = re.compile('|'.join(coined.values()), re.IGNORECASE)
    for number, line in lines:
        words = NAMES.sub(' ', line)
        for cure, pattern in coined.items() if any_of_them.search(words) else ():
            found = re.search(pattern, words, re.IGNORECASE)
            if found:
                yield f'{number}: {found[0]!r}, say {cure}: {line.strip()}'


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize('path', sources(), ids=name_of)
def test_docstrings_and_comments_use_the_words_of_the_field(path):
    found = list(coinages(prose(path.read_text(encoding='utf-8'))))
    assert not found, '\n'.join(found)


@pytest.mark.parametrize('path', sorted((ROOT / 'rbd_ros').rglob('*.py')), ids=name_of)
def test_messages_are_plain(path):
    found = list(coinages(messages(path.read_text(encoding='utf-8')), {**COINAGES, **RIDDLES}))
    assert not found, '\n'.join(found)


@pytest.mark.parametrize('path', sorted((ROOT / 'rbd_ros').rglob('*.py')), ids=name_of)
def test_identifiers_use_the_words_of_the_field(path):
    found = list(coinages(identifiers(path.read_text(encoding='utf-8')), IDENTIFIERS))
    assert not found, '\n'.join(found)


@pytest.mark.parametrize('path', pages(), ids=name_of)
def test_pages_use_the_words_of_the_field(path):
    found = list(coinages(page(path.read_text(encoding='utf-8'))))
    assert not found, '\n'.join(found)


def test_names_of_tests_are_plain():
    found = [
        f'{name_of(path)}:{complaint}'
        for path in sorted((ROOT / 'test').rglob('*.py'))
        for complaint in coinages(names_of_tests(path.read_text(encoding='utf-8')), NAMED)
    ]
    assert not found, '\n'.join(found)


@pytest.mark.slow
def test_spelling_is_american():
    found = [
        f'{name_of(path)}:{number}: {word[0]}'
        for path in (*sources(), *pages())
        for number, line in enumerate(path.read_text(encoding='utf-8').split('\n'), 1)
        for word in BRITISH.finditer(CANCELLED.sub('', line))
    ]
    assert not found, '\n'.join(found)


def test_british_spelling_is_detected():
    assert BRITISH.search('the Colours of a centre') and BRITISH.search('is_normalised')
    assert not BRITISH.search('otherwise precise, centre_of_mass, exercise')


def test_a_coinage_is_detected_in_the_name_of_a_test():
    names = 'it_tells_on', 'dofs', 'who_calls', 'what_is_wrong_is_rejected', 'it_does_what_it_says'
    source = ''.join(f'def test_{name}():\n    told = 1\n' for name in names)
    found = [line.partition(':')[0] for line in coinages(names_of_tests(source), NAMED)]
    assert found == ['1', '5', '7', '9']


def test_a_coinage_is_detected_in_an_identifier():
    source = 'class FileRefused:\n    pass\n_BLOW = untold = 0\nawanted = ConnectionRefusedError\n'
    found = [line.partition(':')[0] for line in coinages(identifiers(source), IDENTIFIERS)]
    assert found == ['1', '3']


def test_a_coinage_is_detected_in_prose_alone():
    source = '''
def f(freedoms):
    """Whoever calls is told.

    :param freedoms: the degrees of freedom, `told`
    >>> print('told')
    told
    """
    blow = 'anew'  # made anew
'''
    found = [line.partition(':')[0] for line in coinages(prose(source))]
    assert found == ['3', '3', '9']
    assert [line.partition(':')[0] for line in coinages(page('a\n```\nanew\n```\nanew'))] == ['5']
