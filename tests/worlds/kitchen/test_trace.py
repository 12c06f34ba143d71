"""The trace of an episode follows entities through every change."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.worlds.kitchen.action_parser import parse_action
from housewise.worlds.kitchen.dishes import are_together, find_dish_root, foods_in, is_added_before
from housewise.worlds.kitchen.trace import Layer
from housewise.worlds.kitchen.world import TextKitchen
from tests.worlds.kitchen.moves import draw_action, run_actions


def check_consistency(world: TextKitchen) -> None:
    """Check that no entity is lost, duplicated or of unknown origin."""
    trace, state = world.trace, world.state
    state.check()
    start = trace.start.entities
    rooms = {id for id, entity in start.items() if entity.can("room")}
    assert set(state.places) == set(state.entities) - rooms
    eaten = {part for made in trace.made for part in made.parts}
    assert set(state.entities) == (set(start) | set(trace.sources)) - eaten
    for id, sources in trace.sources.items():
        assert sources
        assert sources <= set(start)
        if id in trace.portions:
            assert sources == {trace.portions[id]}
    for made in trace.made:
        assert made.sources == frozenset().union(*(trace.sources_of(part) for part in made.parts))
        assert made.sources <= set(trace.used)
    assert set(trace.cooked) <= set(trace.used) | set(start)
    for shot in trace.snapshots:
        orders = [layer.order for layer in shot.layers]
        assert orders == sorted(orders)
        assert shot.sources == frozenset().union(*(trace.sources_of(food) for food in shot.foods))
    last = {shot.root: shot for shot in trace.snapshots if shot.root in state}
    for id in state.entities:
        if state[id].can("edible") and id in trace.sources:
            root = find_dish_root(state, id)
            assert id in foods_in(state, root)
            assert last[root].foods == tuple(foods_in(state, root))
    for root, shot in last.items():
        if state[root].can("container"):
            assert shot.foods == tuple(foods_in(state, root))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), length=st.integers(1, 40))
def test_every_state_of_a_random_episode_is_consistent(seed, length):
    rng = random.Random(seed)
    world = TextKitchen(1, seed=seed % 50)
    for _ in range(length):
        before_ = world.state
        step = world.step(draw_action(world.state, rng))
        assert not step.failed or world.state is before_
        check_consistency(world)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_cut_trace_equals_the_trace_of_fewer_actions(seed):
    """The trace up to a step equals that of an episode with these actions."""
    rng = random.Random(seed)
    world = TextKitchen(1, seed=seed % 50)
    for _ in range(25):
        world.step(draw_action(world.state, rng))
    cut = rng.randint(0, world.trace.step)
    other = TextKitchen(1, seed=seed % 50)
    for action in world.trace.actions[:cut]:
        other.dynamics.execute(parse_action(action, other.kitchen.verbs), action)
    assert world.trace.cut_at(cut) == other.trace


def test_a_fork_is_independent():
    world = run_actions("Pour whole_milk from milk_0 to bowl_0")
    fork = world.dynamics.fork()
    fork.execute(
        parse_action("Mix items in bowl_0 to get cream", world.kitchen.verbs), "Mix items in bowl_0 to get cream"
    )
    assert "whole_milk" in world.state
    assert world.trace.step == 1
    assert not world.trace.made


def test_sources_are_followed_through_every_change():
    world = run_actions(
        "Crack the object egg_0 to get cracked_egg",
        "Move cracked_egg to bowl_0",
        "Pour salt from salt_shaker_0 to bowl_0",
        "Mix items in bowl_0 to get batter",
        "Move pan_1 to stove_0",
        "Pour batter from bowl_0 to pan_1",
        "Fry items in pan_1 to get eggs",
        "Cut the object eggs to get egg_pieces",
    )
    assert world.trace.sources_of("egg_pieces") == {"egg_0", "salt_shaker_0"}
    made = [id for id, sources in world.trace.sources.items() if "egg_0" in sources]
    assert made == ["cracked_egg", "batter", "eggs", "egg_pieces"]
    assert set(world.trace.cooked) == {"egg_0", "salt_shaker_0"}
    assert world.trace.prepared_foods() == ["egg_pieces"]


def test_the_order_of_adding_survives_mixing_but_not_a_new_container():
    world = run_actions(
        "Pour corn_flakes from cereal_box_5 to bowl_0",
        "Pour oat_milk from milk_1 to bowl_0",
        "Mix items in bowl_0 to get breakfast",
        "Move breakfast to bowl_1",
    )
    cereal, milk = frozenset({"cereal_box_5"}), frozenset({"milk_1"})
    by_root = {shot.root: shot for shot in world.trace.snapshots if shot.layers}
    assert is_added_before(by_root["bowl_0"].layers, cereal, milk)
    assert not is_added_before(by_root["bowl_0"].layers, milk, cereal)
    assert are_together(by_root["bowl_1"].layers, cereal, milk)
    assert not is_added_before(by_root["bowl_1"].layers, cereal, milk)


def test_food_on_food_is_one_dish_but_inner_containers_are_not():
    world = run_actions(
        "Move white_bread_slice from bread_0 to plate_0",
        "Pour butter from butter_0 to white_bread_slice",
        "Pour whole_milk from milk_0 to glass_0",
        "Move glass_0 to plate_0",
    )
    assert foods_in(world.state, "plate_0") == ["white_bread_slice", "butter"]
    assert find_dish_root(world.state, "butter") == "plate_0"
    assert find_dish_root(world.state, "whole_milk") == "glass_0"


def test_one_thing_is_not_together_with_itself():
    muesli = (Layer(1, frozenset({"cereal_box_2"})),)
    granola, cereal = frozenset({"cereal_box_2"}), frozenset({"cereal_box_2", "cereal_box_5"})
    assert not are_together(muesli, granola, cereal)
    assert are_together((*muesli, Layer(2, frozenset({"cereal_box_5"}))), granola, cereal)


def test_servings_record_food_but_not_packets():
    world = run_actions(
        "Move milk_0 to table_0",
        "Pour oat_milk from milk_1 to glass_0",
        "Move glass_0 to table_0",
        "Move mug_0 to table_1",
        "Pour almond_milk from milk_3 to mug_0",
    )
    assert [(one.step, one.place, one.sources) for one in world.trace.servings] == [
        (3, "table_0", {"milk_1"}),
        (5, "table_1", {"milk_3"}),
    ]


def test_moving_pouring_heating_making_and_filling_count_as_use():
    world = run_actions(
        "Search cabinet_1",
        "Move white_bread_slice from bread_0 to toaster_0",
        "Toast the object white_bread_slice to get toast",
        "Move pan_0 to stove_0",
        "Heat pan_0",
        "Pour honey from honey_0 to bowl_8",
    )
    assert set(world.trace.used) == {"bread_0", "toaster_0", "pan_0", "honey_0", "bowl_8"}


def test_a_dish_moved_to_an_appliance_is_on_it():
    world = run_actions("Move white_bread_slice from bread_0 to pan_0", "Move pan_0 to stove_0")
    shot = world.trace.snapshots[-1]
    assert (shot.root, shot.on_appliance) == ("pan_0", True)


def test_results_can_be_named_with_or_without_an_article():
    tea = ("Pour water from sink_1 to mug_0", "Brew items in mug_0 to get a cup of tea")
    assert "cup_of_tea" in run_actions(*tea).state
    run_actions(*tea, "Serve a_cup_of_tea at table_0", "Serve the cup of tea at table_1")
