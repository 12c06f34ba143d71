"""The simulator on top of habitat-sim: OpenGL images (GPU or software), Bullet's rays, Recast's navigation mesh.

Scenes, episodes and names are those of the embedded simulator. OpenGL works in one thread only, and a missing driver
ends the whole program. Therefore, :func:`worlds.house.simulator.open_simulator` runs this simulator in a process of its
own.
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

from housewise.core.errors import DataError, UserError
from housewise.core.printable_text import excerpt
from housewise.core.text_files import read_json
from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Array, Box, Pose, Quat, Vec3, vec3, yaw_rotation
from housewise.worlds.house.model_checks import check_model_file, check_referenced_files
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.object_placeholders import placeholder_mesh
from housewise.worlds.house.scene import Receptacle, Scene
from housewise.worlds.house.simulator.base import SENSORS, BodyPose, Camera, Observation, Sensor
from housewise.worlds.house.simulator.house_simulator import HouseSimulator
from housewise.worlds.house.simulator.mesh_files import MeshFileCache, write_stage
from housewise.worlds.house.simulator.shading import SKY

OLDEST = (0, 3, 3)
"""The oldest supported version of habitat-sim."""
INSTALL = "conda install habitat-sim withbullet headless -c conda-forge -c aihabitat -c aihabitat-nightly"

# habitat-sim's name of an empty scene.
_NO_STAGE = "NONE"
_QUIET = {"MAGNUM_LOG": "quiet", "HABITAT_SIM_LOG": "quiet", "GLOG_minloglevel": "2"}


def habitat_sim() -> Any:
    """Import and return the package habitat_sim.

    Raises:
        UserError: If it is not installed, too old, or built without Bullet; the message says what to do.
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


def configured_meshes(config: Path) -> list[Path]:
    """Return the mesh files that an object configuration names.

    Raises:
        DataError: If the configuration is damaged.
    """
    check_referenced_files(config)
    try:
        named = read_json(config)
        return [config.parent / str(named[part]) for part in ("render_asset", "collision_asset") if part in named]
    except (UserError, ValueError, TypeError) as error:
        raise DataError(f"{config}: not a readable object configuration ({error}); fetch the file again") from error


def find_missing_mesh(config: Path) -> Path | None:
    """Return the first missing mesh file of an object configuration, or None if all exist.

    Raises:
        DataError: If the configuration is damaged.
    """
    return next((file for file in configured_meshes(config) if not file.exists()), None)


@dataclass(frozen=True)
class _Model:
    """A model of an object that habitat-sim has loaded.

    Attributes:
        template: Handle of its template, in the units of its file.
        corners: Corners of its bounding box, in the same units.
    """

    template: str
    corners: Array


def habitat_navmesh(scene: Scene) -> NavMesh:
    """Return habitat-sim's navigation mesh if the scene has a file of it, or else the scene's own mesh.

    Raises:
        DataError: If habitat-sim cannot read the file.
    """
    from housewise.worlds.house.simulator.pathfinder import PathFinderNavMesh

    return scene.navmesh if scene.navmesh_file is None else PathFinderNavMesh(scene.navmesh_file, scene.navmesh)


class HabitatSimulator(HouseSimulator):
    """The simulator on top of habitat-sim; implements housewise.worlds.house.simulator.base.Simulator.

    Receptacles are static objects. The stage is the scene's shell, or its inferred walls. Objects have the models of
    the data, or placeholders of their size.

    Args:
        camera: The robot's camera.
        sensors: Arrays of each observation; fewer are faster.
        gpu: Number of the CUDA device that renders; -1 takes any device of EGL, including a software renderer.

    Raises:
        UserError: If habitat-sim is not installed, too old, or built without Bullet.
    """

    def __init__(self, camera: Camera | None = None, sensors: Sequence[Sensor] = SENSORS, gpu: int = -1) -> None:
        super().__init__(camera, sensors)
        self._gpu = gpu
        self._package = habitat_sim()
        self._files = TemporaryDirectory(prefix="housewise-habitat-")
        self._assets = MeshFileCache(Path(self._files.name))
        self._house: tuple[Scene, tuple[str, ...]] | None = None
        self._rigid_objects: dict[str, Any] = {}
        self._models: dict[Path, _Model | None] = {}
        self._shells: set[Path] = set()
        # Without an OpenGL driver this ends the process. It should happen before the first episode.
        self._sim: Any = self._package.Simulator(self._configuration(_NO_STAGE))
        import magnum

        self._magnum: Any = magnum

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset. The furniture is reused if only the objects differ from the last episode."""
        self._load_house(scene, self._number_contents(scene, receptacles, objects))
        self._objects = {thing.key: thing for thing in objects}
        for thing in objects:
            self.move_object(thing.key, thing.pose)
        self.body = body.moved_to(self.navmesh.snap(body.point))

    def observe(self, body: BodyPose | None = None) -> Observation:
        """See Simulator.observe."""
        pictures = self._render(body or self.body)
        images: dict[str, NDArray[Any]] = {"instance": pictures["instance"].astype(np.int32)}
        if "rgb" in pictures:
            images["rgb"] = np.ascontiguousarray(pictures["rgb"][..., :3])
        if "depth" in pictures:
            # habitat-sim returns 0 for the background.
            depth = np.where(pictures["depth"] > 0, pictures["depth"], np.inf)
            images["depth"] = np.clip(depth, self.camera.min_depth, self.camera.max_depth).astype(np.float32)
        if "semantic" in self.sensors:
            images["semantic"] = self._kind_of[images["instance"]]
        return Observation(**images)

    def visible(self, body: BodyPose | None = None) -> frozenset[str]:
        """See Simulator.visible."""
        return self.visible_in(self._render(body or self.body)["instance"])

    def aimed_at(self, reach: float) -> str | None:
        """See Simulator.aimed_at. Bullet casts the ray, which hits the convex hull of furniture."""
        self._pose_agent(self.body)
        node = self._sim.get_agent(0).scene_node.subtree_sensors["instance"].node
        origin = node.absolute_translation
        ahead = node.absolute_transformation().transform_vector(self._vector((0.0, 0.0, -1.0)))
        hits = self._sim.cast_ray(self._package.geo.Ray(origin, ahead), reach)
        if not hits.has_hits():
            return None
        keys = {thing.object_id: key for key, thing in self._rigid_objects.items()}
        return keys.get(hits.hits[0].object_id)

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        there = self._rigid_objects.pop(key, None)
        if there is not None:
            self._manager.remove_object_by_id(there.object_id)
        if pose is not None:
            thing = self._objects[key]
            loaded = None if thing.model is None else self._model(thing.model.config)
            if thing.model is None or loaded is None:
                placeholder = self._assets.mesh(placeholder_mesh(thing.category, thing.size))
                self._add(key, self._template(str(placeholder)), pose)
            else:
                scaled = self._scaled_template(loaded, thing.model.rotation, thing.size)
                self._add(key, scaled, pose.pre_rotate(thing.model.rotation))

    def close(self) -> None:
        """Release the OpenGL context and the files."""
        if self._sim is not None:
            self._sim.close()
            self._sim = None
        self._files.cleanup()

    @property
    def _manager(self) -> Any:
        return self._sim.get_rigid_object_manager()

    def _load_house(self, scene: Scene, furniture: Sequence[Receptacle]) -> None:
        """Load a scene with its furniture and without objects."""
        house = (scene, tuple(thing.key for thing in furniture))
        if self._house is not None and self._house[0] is scene and self._house[1] == house[1]:
            for key in [key for key in self._rigid_objects if key not in house[1]]:
                self._manager.remove_object_by_id(self._rigid_objects.pop(key).object_id)
            return
        earlier, self._house = self._house, None
        if earlier is None or earlier[0] is not scene:
            self._load_stage(scene)
        self._manager.remove_all_objects()
        self._rigid_objects = {}
        for thing in furniture:
            file = self._assets.mesh(thing.mesh) if thing.model is None else self._assets.model(thing.model)
            self._add(thing.key, self._template(str(file)), thing.pose, static=True)
        self._house = house

    def _load_stage(self, scene: Scene) -> None:
        """Load the scene's shell, or its inferred walls."""
        if scene.shell is not None and scene.shell not in self._shells:
            check_model_file(scene.shell)
            self._shells.add(scene.shell)
        stage = scene.shell or write_stage(self._assets.mesh(scene.structure))
        self._sim.reconfigure(self._configuration(str(stage)))
        self.navmesh = habitat_navmesh(scene)

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
        self._pose_agent(body)
        pictures: dict[str, NDArray[Any]] = self._sim.get_sensor_observations()
        return pictures

    def _pose_agent(self, body: BodyPose) -> None:
        """Set the pose of habitat-sim's agent."""
        node = self._sim.get_agent(0).scene_node
        node.translation = self._vector((body.x, self.navmesh.height, body.z))
        node.rotation = self._quaternion(yaw_rotation(body.yaw))
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
        self._rigid_objects[key] = thing

    def _model(self, config: Path) -> _Model | None:
        """Return the model of an object, loaded once, or None if one of its meshes is missing."""
        if config not in self._models:
            self._models[config] = self._load_model(config)
        return self._models[config]

    def _load_model(self, config: Path) -> _Model | None:
        if find_missing_mesh(config) is not None:
            return None
        for file in configured_meshes(config):
            check_model_file(file)
        # Some files end the process, and its last output should name the file.
        print(f"loading {config}", flush=True)
        manager = self._sim.get_object_template_manager()
        try:
            loaded = manager.load_configs(str(config))
            probe = self._manager.add_object_by_template_id(loaded[0])
        except Exception as error:  # habitat-sim raises errors of any class
            raise DataError(
                f"{config}: habitat-sim cannot load this object ({excerpt(error)}); fetch it and its meshes again, or "
                "remove it to show a placeholder"
            ) from error
        corners = Box(vec3(probe.aabb.min), vec3(probe.aabb.max)).corners()
        self._manager.remove_object_by_id(probe.object_id)
        return _Model(manager.get_template_handle_by_id(loaded[0]), corners)

    def _scaled_template(self, model: _Model, rotation: Quat, size: Vec3) -> str:
        """Return the template of a model, scaled from its units to the object's size in the data."""
        manager = self._sim.get_object_template_manager()
        box = Box.bounding(Pose((0.0, 0.0, 0.0), rotation).apply(model.corners))
        scale = float(np.median(np.divide(size, box.size)))
        handle = f"{model.template}@{scale}"
        if not manager.get_library_has_handle(handle):
            template = manager.get_template_by_handle(model.template)
            template.scale = template.scale * scale
            manager.register_template(template, handle)
        return handle

    def _template(self, file: str) -> str:
        """Return the name of the template of a mesh file, and register it if it is new."""
        manager = self._sim.get_object_template_manager()
        if not manager.get_library_has_handle(file):
            template = manager.create_new_template(file, False)
            template.render_asset_handle = template.collision_asset_handle = file
            # The colours in our own files are shaded already.
            template.force_flat_shading = True
            manager.register_template(template, file)
        return file

    def _vector(self, values: Sequence[float]) -> Any:
        return self._magnum.Vector3(*values)

    def _quaternion(self, values: Sequence[float]) -> Any:
        x, y, z, w = values
        return self._magnum.Quaternion(self._vector((x, y, z)), w)
