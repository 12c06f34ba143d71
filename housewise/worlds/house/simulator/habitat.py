"""The house in habitat-sim: OpenGL pictures (GPU or software), Bullet's rays, Recast's navigation mesh.

Scenes, episodes and names are those of the embedded simulator. OpenGL belongs to one thread, and a missing driver ends
the whole program, so that programs use it through :func:`worlds.house.simulator.open_simulator`, which puts it into a
process of its own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from housewise.core.errors import DataError, UserError, excerpt
from housewise.core.text_files import read_json
from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Box, Pose, Quat, Vec3
from housewise.worlds.house.model_checks import check_mesh, check_parts
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.object_placeholders import object_mesh
from housewise.worlds.house.scene import Receptacle, Scene
from housewise.worlds.house.simulator.base import SENSORS, BodyPose, Camera, Observation, Sensor
from housewise.worlds.house.simulator.house_simulator import HouseSimulator
from housewise.worlds.house.simulator.mesh_files import Assets, write_stage
from housewise.worlds.house.simulator.shading import SKY

OLDEST = (0, 3, 3)
"""The oldest habitat-sim whose interface this is."""
INSTALL = "conda install habitat-sim withbullet headless -c conda-forge -c aihabitat -c aihabitat-nightly"

# habitat-sim's name of a scene with nothing in it.
_NO_STAGE = "NONE"
_QUIET = {"MAGNUM_LOG": "quiet", "HABITAT_SIM_LOG": "quiet", "GLOG_minloglevel": "2"}


def habitat_sim() -> Any:
    """The package habitat_sim.

    Raises:
        UserError: when it is not installed, too old, or built without Bullet; the message says what to do.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import habitat_sim as package
    except ImportError as error:
        raise UserError(f"habitat-sim is not installed ({error}); run {INSTALL}") from error
    version = tuple(int(part) for part in str(package.__version__).split(".")[:3] if part.isdigit())
    if version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise UserError(f"habitat-sim {package.__version__} is too old: {oldest} or later is needed; run {INSTALL}")
    if not package.built_with_bullet:
        raise UserError(f"habitat-sim {package.__version__} was built without Bullet; run {INSTALL}")
    return package


def meshes_of(config: Path) -> list[Path]:
    """The meshes that an object configuration names.

    Raises:
        DataError: when the file is damaged, or names none.
    """
    check_parts(config)
    try:
        named = read_json(config)
        return [config.parent / str(named[part]) for part in ("render_asset", "collision_asset") if part in named]
    except (UserError, ValueError, TypeError) as error:
        raise DataError(f"{config}: not a readable object configuration ({error}); fetch the file again") from error


def missing_mesh(config: Path) -> Path | None:
    """The first mesh that an object configuration names and that is not there; None where all are.

    Raises:
        DataError: when the file is damaged.
    """
    return next((file for file in meshes_of(config) if not file.exists()), None)


@dataclass(frozen=True)
class _Model:
    """An object's model as habitat-sim has loaded it.

    Attributes:
        template: handle of its template, in the units of its file.
        corners: of its bounding box, in those units.
    """

    template: str
    corners: Sequence[Vec3]


def habitat_navmesh(scene: Scene) -> NavMesh:
    """Where a robot can be in habitat-sim: Recast's mesh where the scene comes with a file of it, else our own.

    Raises:
        DataError: when habitat-sim cannot read the file.
    """
    from housewise.worlds.house.simulator.pathfinder import PathFinderNavMesh

    return scene.navmesh if scene.navmesh_file is None else PathFinderNavMesh(scene.navmesh_file, scene.navmesh)


class HabitatSimulator(HouseSimulator):
    """See housewise.worlds.house.simulator.base.Simulator.

    Receptacles are static objects; the stage is the scene's shell, or the walls that we infer. Objects come from their
    configurations where the data has them, otherwise stand-ins of their size do.

    Args:
        camera: the robot's.
        sensors: which arrays an observation carries; fewer are faster.
        gpu: number of the CUDA device that renders; -1 takes whatever EGL offers, software as well.

    Raises:
        UserError: when habitat-sim is not there, too old, or lacks Bullet.
    """

    def __init__(self, camera: Camera | None = None, sensors: Sequence[Sensor] = SENSORS, gpu: int = -1) -> None:
        super().__init__(camera, sensors)
        self._gpu = gpu
        self._package = habitat_sim()
        self._files = TemporaryDirectory(prefix="housewise-habitat-")
        self._assets = Assets(Path(self._files.name))
        self._house: tuple[Scene, tuple[str, ...]] | None = None
        self._things: dict[str, Any] = {}
        self._models: dict[Path, _Model | None] = {}
        self._shells: set[Path] = set()
        # Without a driver this ends the process, before there is anything to play.
        self._sim: Any = self._package.Simulator(self._configuration(_NO_STAGE))

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset; the furniture is kept when only the objects differ from the last time."""
        self._enter(scene, self._furnish(scene, receptacles, objects))
        self._objects = {thing.key: thing for thing in objects}
        for thing in objects:
            self.move_object(thing.key, thing.pose)
        self._body = body.at(self._navmesh.snap(body.point))

    def observe(self, body: BodyPose | None = None) -> Observation:
        """See Simulator.observe."""
        pictures = self._render(body or self._body)
        instance = pictures["instance"].astype(np.int32)
        depth, rgb = pictures.get("depth"), pictures.get("rgb")
        if depth is not None:
            # Where there is nothing habitat-sim says 0.
            depth = np.clip(np.where(depth > 0, depth, np.inf), self.camera.min_depth, self.camera.max_depth)
        return Observation(
            np.empty((0, 0, 3), np.uint8) if rgb is None else np.ascontiguousarray(rgb[..., :3]),
            np.empty((0, 0), np.float32) if depth is None else depth.astype(np.float32),
            instance,
            self._kind_of[instance] if "semantic" in self.sensors else np.empty((0, 0), np.int32),
        )

    def visible(self, body: BodyPose | None = None) -> frozenset[str]:
        """See Simulator.visible."""
        return self.things(self._render(body or self._body)["instance"])

    def aimed_at(self, reach: float) -> str | None:
        """See Simulator.aimed_at: Bullet's ray through the image centre; furniture is as thick as its convex hull."""
        self._pose(self._body)
        node = self._lens
        origin = node.absolute_translation
        ahead = node.absolute_transformation().transform_vector(self._vector((0.0, 0.0, -1.0)))
        hits = self._sim.cast_ray(self._package.geo.Ray(origin, ahead), reach)
        if not hits.has_hits():
            return None
        keys = {thing.object_id: key for key, thing in self._things.items()}
        return keys.get(hits.hits[0].object_id)

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        there = self._things.pop(key, None)
        if there is not None:
            self._manager.remove_object_by_id(there.object_id)
        if pose is not None:
            thing = self._objects[key]
            loaded = None if thing.model is None else self._model(thing.model.config)
            if thing.model is None or loaded is None:
                self._add(key, self._stand_in(thing), pose)
            else:
                scaled = self._scaled(loaded, thing.model.rotation, thing.size)
                self._add(key, scaled, pose.turned(thing.model.rotation))

    def close(self) -> None:
        """Release the picture context and the files."""
        if self._sim is not None:
            self._sim.close()
            self._sim = None
        self._files.cleanup()

    @property
    def _manager(self) -> Any:
        return self._sim.get_rigid_object_manager()

    @property
    def _lens(self) -> Any:
        return self._sim.get_agent(0).scene_node.subtree_sensors["instance"].node

    def _enter(self, scene: Scene, furniture: Sequence[Receptacle]) -> None:
        """Make the scene the current one, with its furniture and no objects."""
        house = (scene, tuple(thing.key for thing in furniture))
        if self._house is not None and self._house[0] is scene and self._house[1] == house[1]:
            for key in [key for key in self._things if key not in house[1]]:
                self._manager.remove_object_by_id(self._things.pop(key).object_id)
            return
        earlier, self._house = self._house, None
        if earlier is None or earlier[0] is not scene:
            self._open(scene)
        self._manager.remove_all_objects()
        self._things = {}
        for thing in furniture:
            self._add(thing.key, self._template(str(self._furniture(thing))), thing.pose, static=True)
        self._house = house

    def _open(self, scene: Scene) -> None:
        """Load the scene's shell, or the walls that stand in for it."""
        if scene.shell is not None and scene.shell not in self._shells:
            check_mesh(scene.shell)
            self._shells.add(scene.shell)
        stage = scene.shell or write_stage(self._assets.mesh(scene.structure))
        self._sim.reconfigure(self._configuration(str(stage)))
        self._navmesh = habitat_navmesh(scene)

    def _configuration(self, stage: str) -> Any:
        package = self._package
        backend = package.SimulatorConfiguration()
        backend.scene_id = stage
        backend.gpu_device_id = self._gpu
        backend.enable_physics = True
        backend.random_seed = 0
        agent = package.agent.AgentConfiguration()
        agent.height, agent.radius = 1.5, 0.18
        types = package.SensorType
        wanted = {"instance": types.SEMANTIC, "depth": types.DEPTH, "rgb": types.COLOR}
        agent.sensor_specifications = [
            self._sensor(name, kind) for name, kind in wanted.items() if name == "instance" or name in self.sensors
        ]
        return package.Configuration(backend, [agent])

    def _sensor(self, name: str, kind: Any) -> Any:
        specification = self._package.CameraSensorSpec()
        specification.uuid, specification.sensor_type = name, kind
        specification.resolution = [self.camera.height, self.camera.width]
        specification.position = [0.0, self.camera.above_floor, 0.0]
        specification.clear_color = [*(value / 255 for value in SKY), 1.0]
        specification.hfov = float(np.rad2deg(self.camera.field_of_view))
        return specification

    def _render(self, body: BodyPose) -> dict[str, NDArray[Any]]:
        self._pose(body)
        pictures: dict[str, NDArray[Any]] = self._sim.get_sensor_observations()
        return pictures

    def _pose(self, body: BodyPose) -> None:
        """Put habitat-sim's agent where the robot is, or would be."""
        node = self._sim.get_agent(0).scene_node
        node.translation = self._vector((body.x, self._navmesh.height, body.z))
        node.rotation = self._quaternion((0.0, float(np.sin(body.yaw / 2)), 0.0, float(np.cos(body.yaw / 2))))
        tilt = self._quaternion((float(np.sin(body.pitch / 2)), 0.0, 0.0, float(np.cos(body.pitch / 2))))
        for sensor in node.subtree_sensors.values():
            sensor.node.rotation = tilt

    def _add(self, key: str, template: str, pose: Pose, static: bool = False) -> None:
        unlit = self._package.gfx.NO_LIGHT_KEY
        thing = self._manager.add_object_by_template_handle(template, light_setup_key=unlit)
        kinds = self._package.physics.MotionType
        thing.motion_type = kinds.KINEMATIC
        thing.translation = self._vector(pose.position)
        thing.rotation = self._quaternion(pose.rotation)
        thing.semantic_id = self._number[key]
        if static:
            thing.motion_type = kinds.STATIC
        self._things[key] = thing

    def _stand_in(self, thing: HouseObject) -> str:
        """Template of a solid of an object's size."""
        return self._template(str(self._assets.mesh(object_mesh(thing.category, thing.size))))

    def _model(self, config: Path) -> _Model | None:
        """An object's own model, loaded once; None where a mesh of it is missing."""
        if config not in self._models:
            self._models[config] = self._load_model(config)
        return self._models[config]

    def _load_model(self, config: Path) -> _Model | None:
        if missing_mesh(config) is not None:
            return None
        for file in meshes_of(config):
            check_mesh(file)
        # Some files end the process; its last words are to say which.
        print(f"loading {config}", flush=True)
        manager = self._sim.get_object_template_manager()
        try:
            loaded = manager.load_configs(str(config))
            probe = self._manager.add_object_by_template_id(loaded[0])
        except Exception as error:  # habitat-sim raises whatever its checks find
            raise DataError(
                f"{config}: habitat-sim cannot load this object ({excerpt(error)}); fetch it and its meshes again, or "
                "remove it for a stand-in"
            ) from error
        corners = _corners(probe.aabb)
        self._manager.remove_object_by_id(probe.object_id)
        return _Model(manager.get_template_handle_by_id(loaded[0]), corners)

    def _scaled(self, model: _Model, rotation: Quat, size: Vec3) -> str:
        """Template of a model that is scaled, whatever its units, to the size that the data give."""
        manager = self._sim.get_object_template_manager()
        box = Box.around(Pose((0.0, 0.0, 0.0), rotation).apply(model.corners))
        scale = float(np.median(np.divide(size, box.size)))
        handle = f"{model.template}@{scale}"
        if not manager.get_library_has_handle(handle):
            template = manager.get_template_by_handle(model.template)
            template.scale = template.scale * scale
            manager.register_template(template, handle)
        return handle

    def _template(self, file: str) -> str:
        """Name of the template that shows a model's file, made where it is missing."""
        manager = self._sim.get_object_template_manager()
        if not manager.get_library_has_handle(file):
            template = manager.create_new_template(file, False)
            template.render_asset_handle = template.collision_asset_handle = file
            # Our own files are lit already.
            template.force_flat_shading = True
            manager.register_template(template, file)
        return file

    def _furniture(self, thing: Receptacle) -> Path:
        return self._assets.mesh(thing.mesh) if thing.model is None else self._assets.model(thing.model)

    def _vector(self, values: Sequence[float]) -> Any:
        import magnum

        return magnum.Vector3(*values)

    def _quaternion(self, values: Sequence[float]) -> Any:
        import magnum

        x, y, z, w = values
        return magnum.Quaternion(magnum.Vector3(x, y, z), w)


def _corners(box: Any) -> list[tuple[float, float, float]]:
    """The eight corners of a magnum range."""
    low, high = box.min, box.max
    return [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
