# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Services of `simulation_interfaces` that list and load worlds.

Loading a world keeps the simulated robot, replaces everything else, pauses and resets.
"""

from __future__ import annotations

from collections import ChainMap
from pathlib import Path
import tempfile
from typing import Any, Callable, Iterator, List, Tuple

from rbd_ros.lookup.worlds import embedded_worlds, ENDING, find_world, WorldNotFoundError
from rbd_ros.nodes.messages.text import short_name
from rbd_ros.nodes.simulator.standard_services.entity_filters import has_tags
from rbd_ros.nodes.simulator.standard_services.spawned_entities import MAX_BYTES
from rbd_ros.nodes.simulator.standard_services.standard_answers import (
    answering,
    Callback,
    FAILED,
    RequestError,
)
from rbd_ros.world.world import World

# Constants of the standard.
NO_WORLD_LOADED = 101
UNSUPPORTED_FORMAT, NO_RESOURCE, PARSE_ERROR = 101, 102, 103

FEATURES = ('AVAILABLE_WORLDS', 'WORLD_INFO_GETTING')
WITH_WORLD = ('WORLD_LOADING', 'WORLD_RESOURCE_STRING', 'WORLD_UNLOADING')
GROUND = 'ground'
TEXT = 'resource_string'  # name of a world that is given as text
MAX_FILES = 1000  # maximum number of files of a folder
MAX_TEXT = 10 * MAX_BYTES  # maximum size of a world


class WorldServices:
    """Callbacks of the services.

    :param simulator: node with `world_interface` and `changes` (None without a world), and with
        `parameters`, `pause` and `reset`
    :param msg: message module of the package
    :param stopped: called after loading another world, paused
    """

    def __init__(self, simulator: Any, msg: Any, stopped: Callable[[], None]):
        self._simulator, self._msg, self._stopped = simulator, msg, stopped
        self._loaded: Tuple[str, str, str] | None = None  # name, path, text
        #: Whether the world has been unloaded.
        self.unloaded = False

    @property
    def services(self) -> Tuple[Tuple[str, str, Callback], ...]:
        """Type, name and callback of each service."""
        return (
            ('GetAvailableWorlds', 'get_available_worlds', answering(self._available)),
            ('GetCurrentWorld', 'get_current_world', answering(self._current)),
            ('LoadWorld', 'load_world', answering(self._load)),
            ('UnloadWorld', 'unload_world', answering(self._unload)),
        )

    @property
    def features(self) -> Tuple[str, ...]:
        """Names of supported features."""
        return FEATURES + (WITH_WORLD if self._simulator.world_interface is not None else ())

    # -- the services -----------------------------------------------------------------------------

    def _available(self, request: Any, response: Any) -> None:
        paths: List[Path] = list(embedded_worlds().values())
        failed = []
        for source in request.additional_sources:
            try:
                paths.extend(_files(source))
            except (OSError, ValueError):
                failed.append(short_name(source))
        if failed and not request.continue_on_error:
            raise RequestError(
                FAILED,
                f'there is no folder or file {", ".join(failed)}; set continue_on_error to '
                'ignore it',
            )
        response.worlds = [
            self._world(path.stem, str(path), '') for path in paths if has_tags((), request.filter)
        ]

    def _current(self, request: Any, response: Any) -> None:
        world_interface, parameters = self._simulator.world_interface, self._simulator.parameters
        if world_interface is None or self.unloaded:
            raise RequestError(NO_WORLD_LOADED, 'the simulation has no world')
        if self._loaded is not None:
            response.world = self._world(*self._loaded)
        elif parameters['world'].strip():
            path = find_world(parameters['world'].strip(), parameters['package_paths'])
            response.world = self._world(path.stem, str(path), '')
        else:
            response.world = self._world(GROUND, '', '')

    def _load(self, request: Any, response: Any) -> None:
        # Before 2.1, the request itself has the fields of the resource.
        resource = getattr(request, 'world_resource', request)
        uri, text = resource.uri, resource.resource_string
        if not (uri or text.strip()):
            raise RequestError(NO_RESOURCE, 'uri and resource_string are both empty; give one')
        if (text if not uri else '').lstrip().startswith('<') or uri.endswith(('.sdf', '.usd')):
            raise RequestError(
                UNSUPPORTED_FORMAT, 'SDF and USD are not supported; give YAML as in docs/world.md'
            )
        changes = self._changes
        world, name, path = self._read(uri, text)
        self._replace(lambda: changes.load(world))
        self._loaded, self.unloaded = (name, path, '' if uri else text), False
        response.world = self._world(*self._loaded)

    def _unload(self, request: Any, response: Any) -> None:
        if self._simulator.world_interface is None or self.unloaded:
            raise RequestError(NO_WORLD_LOADED, 'the simulation has no world')
        changes = self._changes
        empty = World(gravity=tuple(self._simulator.parameters['gravity']))
        self._replace(lambda: changes.load(empty))
        self._loaded, self.unloaded = None, True

    # -- details ----------------------------------------------------------------------------------

    @property
    def _changes(self) -> Any:
        if self._simulator.world_interface is None:
            raise RequestError(
                FAILED,
                'the simulation was started without a world and cannot load one; start it with '
                'the parameter world, such as world:=empty',
            )
        return self._simulator.changes

    def _read(self, uri: str, text: str) -> Tuple[World, str, str]:
        """Return the world of a request, its name, and its path if it has one."""
        from rbd_ros.nodes.simulator.world.world_source import world_of

        parameters = self._simulator.parameters
        robot = self._simulator.cycle.described.model
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f'{TEXT}.yaml'
            if uri:
                name = uri.removeprefix('file://')
                try:
                    path = find_world(name, parameters['package_paths'])
                except WorldNotFoundError as error:
                    raise RequestError(NO_RESOURCE, str(error)) from None
            elif len(text) > MAX_TEXT:
                raise RequestError(PARSE_ERROR, f'more than {MAX_TEXT} characters')
            else:
                path.write_text(text, encoding='utf-8')
            values: Any = ChainMap({'world': str(path)}, parameters.values)
            try:
                world = world_of(values, robot)
            except ValueError as error:
                raise RequestError(PARSE_ERROR, str(error)) from None
        assert world is not None
        return world, path.stem, str(path) if uri else ''

    def _replace(self, change: Callable[[], None]) -> None:
        """Change the world while paused, and stop; resume if it fails."""
        simulator = self._simulator
        stood_still = simulator.loop.paused
        simulator.pause(True)
        try:
            change()
        except ValueError as error:
            simulator.pause(stood_still)
            raise RequestError(FAILED, str(error)) from None
        simulator.reset()
        self._stopped()

    def _world(self, name: str, uri: str, text: str) -> Any:
        made = self._msg.WorldResource()
        made.name = name.removesuffix(ENDING)
        made.world_resource.uri, made.world_resource.resource_string = uri, text
        return made


def _files(source: str) -> Iterator[Path]:
    """Return the world files of a folder, or a file itself.

    :raises OSError: if there is none
    :raises ValueError: for an invalid path
    """
    path = Path(source.removeprefix('file://')).expanduser()
    if path.is_dir():
        found = sorted(path.glob('*.yaml'))[:MAX_FILES]
        return (each for each in found if each.stem.endswith(ENDING))
    if not path.is_file():
        raise FileNotFoundError(source)
    return iter([path])
