# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""YAML of bounded depth: deeper nesting is rejected before it can overflow a stack.

Composing YAML recurses, in libyaml in C: a small file with some tens of thousands of brackets
would end the process.
"""

from __future__ import annotations

from typing import Any, IO, Type, Union

import yaml

DEEPEST = 64


class BoundedDepth:
    """Base of a loader that rejects deep nesting: `class L(BoundedDepth, Base)`.

    All loaders of yaml, also those of libyaml, call the first two methods at each level.
    """

    #: Maximum number of levels
    deepest = DEEPEST
    _depth = 0

    def descend_resolver(self, parent: Any, index: Any) -> None:
        """Count a level.

        :raises yaml.MarkedYAMLError: if it is too deep, with the place of its parent
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
        """Return a quoted scalar; a surrogate pair of a JSON escape is one character.

        :raises yaml.MarkedYAMLError: for an unpaired surrogate, which UTF-8 cannot encode
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
    """Loader of plain values."""


class _BaseLoader(BoundedDepth, yaml.BaseLoader):
    """Loader of texts only."""


def load_yaml(source: Union[str, IO[str]], words: bool = False) -> Any:
    """Return the content of YAML as Python values.

    :param source: the text, or an open file
    :param words: whether scalars stay texts
    :raises yaml.YAMLError: if it is not YAML, or too deep

    >>> from rbd_ros.model.bounded_yaml import load_yaml
    >>> load_yaml('{a: [1, 2]}')
    {'a': [1, 2]}
    """
    loader: Type[Any] = _BaseLoader if words else _SafeLoader
    return yaml.load(source, loader)


def compose_yaml(source: str) -> Any:
    """Return the nodes of YAML, with their style and place; None for an empty text.

    :param source: the text
    :raises yaml.YAMLError: if it is not YAML, or too deep

    >>> from rbd_ros.model.bounded_yaml import compose_yaml
    >>> [key.value for key, _ in compose_yaml('{a: [1, 2]}').value]
    ['a']
    """
    return yaml.compose(source, _SafeLoader)
