# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The XML files of an FMU, and its HTML page."""

from __future__ import annotations

from typing import Dict, Optional, Sequence
from xml.etree import ElementTree

from rbd_ros.fmi.variables import TIME, Variable

_UNITS: Dict[str, Dict[str, str]] = {
    's': {'s': '1'},
    'rad': {'rad': '1'},
    'rad/s': {'rad': '1', 's': '-1'},
    'rad/s2': {'rad': '1', 's': '-2'},
    'm': {'m': '1'},
    'm/s': {'m': '1', 's': '-1'},
    'm/s2': {'m': '1', 's': '-2'},
    'N': {'kg': '1', 'm': '1', 's': '-2'},
    'N.m': {'kg': '1', 'm': '2', 's': '-2'},
}


def model_description(
    name: str,
    identifier: str,
    token: str,
    variables: Sequence[Variable],
    timestep: float,
    tool: str,
    about: str,
) -> str:
    """Return the text of modelDescription.xml.

    :param name: name of the model, any text
    :param identifier: name of the binary, a valid C name
    :param token: unique token of this FMU
    :param timestep: internal step [s]
    :param tool: program that created it
    :param about: description in one sentence
    """
    root = ElementTree.Element(
        'fmiModelDescription',
        fmiVersion='3.0',
        modelName=_plain(name),
        instantiationToken=token,
        description=_plain(about),
        generationTool=tool,
        variableNamingConvention='flat',
    )
    _child(
        root,
        'CoSimulation',
        modelIdentifier=identifier,
        canGetAndSetFMUState='true',
        canSerializeFMUState='true',
        canHandleVariableCommunicationStepSize='true',
        fixedInternalStepSize=repr(timestep),
    )
    units = _child(root, 'UnitDefinitions')
    for unit in dict.fromkeys(['s', *(each.unit for each in variables if each.unit)]):
        _child(_child(units, 'Unit', name=unit), 'BaseUnit', **_UNITS[unit])
    categories = _child(root, 'LogCategories')
    _child(categories, 'Category', name='logStatusDiscard', description='rejected calls')
    _child(categories, 'Category', name='logStatusError', description='errors')
    _child(root, 'DefaultExperiment', startTime='0.0', stopTime='1.0', stepSize=repr(timestep))
    made = _child(root, 'ModelVariables')
    _child(
        made,
        'Float64',
        name='time',
        valueReference=str(TIME),
        causality='independent',
        variability='continuous',
        description='simulated time',
        unit='s',
    )
    for each in variables:
        attributes = {
            'name': _plain(each.name),
            'valueReference': str(each.reference),
            'causality': each.causality,
            'variability': 'continuous',
            'description': _plain(each.description),
        }
        if each.unit:
            attributes['unit'] = each.unit
        if each.causality == 'output':
            attributes['initial'] = 'calculated' if each.start is None else 'exact'
        if each.start is not None:
            attributes['start'] = repr(float(each.start))
        _child(made, 'Float64', **attributes)
    structure = _child(root, 'ModelStructure')
    outputs = [each for each in variables if each.causality == 'output']
    for each in outputs:
        _child(structure, 'Output', valueReference=str(each.reference))
    for each in outputs:
        if each.start is None:
            # Zero before the first step.
            _child(
                structure, 'InitialUnknown', valueReference=str(each.reference), dependencies=''
            )
    return _text(root)


def build_description(identifier: str, sources: Sequence[str]) -> str:
    """Return the text of sources/buildDescription.xml.

    :param sources: names of the C files
    """
    root = ElementTree.Element('fmiBuildDescription', fmiVersion='3.0')
    configuration = _child(
        root, 'BuildConfiguration', modelIdentifier=identifier, description='any C99 compiler'
    )
    files = _child(
        configuration, 'SourceFileSet', language='C99', compilerOptions='-O2 -ffp-contract=off'
    )
    for source in sources:
        _child(files, 'SourceFile', name=source)
    _child(configuration, 'Library', name='m', description='math.h, where it is a library')
    return _text(root)


def page(name: str, about: str, variables: Sequence[Variable]) -> str:
    """Return the text of documentation/index.html."""
    root = ElementTree.Element('html')
    _child(_child(root, 'head'), 'title').text = _plain(name)
    body = _child(root, 'body')
    _child(body, 'h1').text = _plain(name)
    _child(body, 'p').text = _plain(about)
    table = _child(body, 'table')
    rows: list[Sequence[Optional[str]]] = [('variable', 'causality', 'unit', 'meaning')]
    rows += [(each.name, each.causality, each.unit, each.description) for each in variables]
    for row in rows:
        line = _child(table, 'tr')
        for cell in row:
            _child(line, 'td').text = _plain(cell or '')
    return '<!DOCTYPE html>\n' + ElementTree.tostring(root, encoding='unicode', method='html')


def _child(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, attributes)


def _plain(text: str) -> str:
    """Return the text without characters that XML does not allow."""
    return ''.join(c if c.isprintable() else '?' for c in text)


def _text(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding='unicode')
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'
