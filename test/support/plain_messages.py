# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Plain Python classes for the messages of a ROS package, from the names of their fields.

They replace the generated classes of some version of the package: an unknown field raises
AttributeError, a value of another type AssertionError, as there.
"""

from types import ModuleType, SimpleNamespace

SIMPLE = {'bool': bool, 'string': str, 'float64': float}


class Plain:
    """A message; `FIELDS` are types by name."""

    FIELDS: dict = {}
    __slots__ = ()
    __hash__ = None

    def __init__(self, **values):
        for name, kind in self.FIELDS.items():
            setattr(self, name, values.pop(name) if name in values else kind.default())
        assert not values, f'{type(self).__name__} has no {sorted(values)}'

    def __eq__(self, other):
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self.FIELDS
        )

    def __setattr__(self, name, value):
        if name in self.FIELDS:
            assert self.FIELDS[name].takes(value), f'{type(self).__name__}.{name} = {value!r}'
        super().__setattr__(name, value)


class Kind:
    """Type of a field, such as 'uint8' or 'Thing[]'.

    :param text: the type
    :param classes: classes of messages by name
    """

    def __init__(self, text, classes):
        self.name, self.many = text.removesuffix('[]'), text.endswith('[]')
        self.known = SIMPLE.get(self.name) or (
            int if self.name.startswith(('int', 'uint')) else None
        )
        self.classes = classes

    @property
    def single(self):
        return self.known or self.classes[self.name]

    def default(self):
        return [] if self.many else self.single()

    def takes(self, value):
        if self.many:
            return isinstance(value, (list, tuple)) and all(map(self.fits, value))
        return self.fits(value)

    def fits(self, value):
        return isinstance(value, self.single) and (
            self.single is not int or not isinstance(value, bool)
        )


def message(name, fields, classes, **constants):
    """Return the class of a message.

    :param name: its name
    :param fields: its fields, such as 'uint8 code, string[] names'
    :param classes: classes of messages in fields, looked up at use
    """
    found = [each.split() for each in fields.split(', ') if each]
    kinds = {field: Kind(kind, classes) for kind, field in found}
    return type(name, (Plain,), {'FIELDS': kinds, '__slots__': tuple(kinds), **constants})


def modules(package, messages, services, others, constants):
    """Return the modules of a package, by name, as in `sys.modules`.

    :param package: its name
    :param messages: fields of each message
    :param services: fields of request and response of each service
    :param others: classes of messages of other packages, by name
    :param constants: numbers by name, of each message that has some
    """
    classes = dict(others)
    for name, fields in messages.items():
        classes[name] = message(name, fields, classes, **constants.get(name, {}))
    whole, msg, srv = (ModuleType(f'{package}{ending}') for ending in ('', '.msg', '.srv'))
    for name in messages:
        setattr(msg, name, classes[name])
    for name, (request, response) in services.items():
        pair = {
            'Request': message(f'{name}_Request', request, classes),
            'Response': message(f'{name}_Response', response, classes),
        }
        setattr(srv, name, SimpleNamespace(**pair))
    whole.msg, whole.srv = msg, srv
    return {module.__name__: module for module in (whole, msg, srv)}
