# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""YAML of bounded depth: what is nested deeper is rejected before it can overflow a stack.

Composing YAML recurses, and libyaml's composer does so in C: some tens of thousands of
brackets, which are a small file, would end the process.
"""

from __future__ import annotations

from typing import Any, IO, Type, Union

import yaml

DEEPEST = 64


class BoundedDepth:
    """Part of a loader, before its base, that rejects deep nesting: `class L(BoundedDepth, Base)`.

    All loaders of yaml call the first two methods at each level, those of libyaml too.
    """

    #: Levels that are accepted
    deepest = DEEPEST
    _depth = 0

    def descend_resolver(self, parent: Any, index: Any) -> None:
        """Count a level.

        :raises yaml.MarkedYAMLError: if it is one too many, with the place of what it is in
        """
        self._depth += 1
        if self._depth > self.deepest:
            raise yaml.MarkedYAMLError(
                problem=f'it is nested more than {self.deepest} levels deep',
                problem_mark=getattr(parent, 'start_mark', None),
            )
        super().descend_resolver(parent, index)  # type: ignore[misc]

    def ascend_resolver(self) -> None:
        """Leave a level."""
        self._depth -= 1
        super().ascend_resolver()  # type: ignore[misc]

    def scan_flow_scalar(self, style: str) -> Any:
        """Return a quoted scalar; two surrogates, as JSON escapes an emoji, are one character.

        :raises yaml.MarkedYAMLError: for one without the other, which no file can hold
        """
        token = super().scan_flow_scalar(style)  # type: ignore[misc]
        try:
            token.value = token.value.encode('utf-16', 'surrogatepass').decode('utf-16')
        except UnicodeDecodeError:
            raise yaml.MarkedYAMLError(
                problem='a surrogate is without its pair', problem_mark=token.start_mark
            ) from None
        return token


class _SafeLoader(BoundedDepth, yaml.SafeLoader):
    """Plain values."""


class _BaseLoader(BoundedDepth, yaml.BaseLoader):
    """Texts alone."""


def load_yaml(source: Union[str, IO[str]], words: bool = False) -> Any:
    """Return the content of YAML as plain values of Python.

    :param source: the text, or an open file
    :param words: whether scalars stay the texts that they are
    :raises yaml.YAMLError: for what is no YAML, or too deep

    >>> from rbd_ros.model.bounded_yaml import load_yaml
    >>> load_yaml('{a: [1, 2]}')
    {'a': [1, 2]}
    """
    loader: Type[Any] = _BaseLoader if words else _SafeLoader
    return yaml.load(source, loader)


def compose_yaml(source: str) -> Any:
    """Return nodes of YAML, which know how and where they were written; None if there is nothing.

    :param source: the text
    :raises yaml.YAMLError: for what is no YAML, or too deep

    >>> from rbd_ros.model.bounded_yaml import compose_yaml
    >>> [key.value for key, _ in compose_yaml('{a: [1, 2]}').value]
    ['a']
    """
    return yaml.compose(source, _SafeLoader)
