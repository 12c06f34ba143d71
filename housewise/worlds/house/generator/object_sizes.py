"""Sizes of objects by category."""

from __future__ import annotations

from housewise.worlds.house.geometry import Vec3

SIZES: dict[str, Vec3] = {
    # Drinking and eating
    "mug": (0.12, 0.10, 0.09), "cup": (0.10, 0.08, 0.08), "teacup": (0.11, 0.07, 0.09),
    "drinking_glass": (0.08, 0.13, 0.08), "wine_glass": (0.08, 0.21, 0.08), "tumbler": (0.08, 0.16, 0.08),
    "plate": (0.26, 0.025, 0.26), "bowl": (0.16, 0.07, 0.16), "saucer": (0.15, 0.02, 0.15),
    "platter": (0.34, 0.03, 0.24), "serving_bowl": (0.25, 0.11, 0.25), "butter_dish": (0.18, 0.08, 0.11),
    "fork": (0.19, 0.02, 0.025), "spoon": (0.18, 0.02, 0.04), "table_knife": (0.22, 0.015, 0.02),
    "chopsticks": (0.23, 0.01, 0.02), "ladle": (0.30, 0.05, 0.09),
    # Cooking
    "saucepan": (0.34, 0.13, 0.19), "frying_pan": (0.44, 0.06, 0.27), "wok": (0.46, 0.12, 0.32),
    "casserole_dish": (0.34, 0.13, 0.24), "baking_tray": (0.40, 0.03, 0.29), "pot_lid": (0.22, 0.06, 0.22),
    "spatula": (0.31, 0.04, 0.08), "whisk": (0.28, 0.07, 0.07), "grater": (0.11, 0.23, 0.08),
    "colander": (0.26, 0.12, 0.24), "cutting_board": (0.35, 0.02, 0.24), "rolling_pin": (0.42, 0.05, 0.05),
    "measuring_jug": (0.17, 0.15, 0.12), "can_opener": (0.18, 0.05, 0.06), "peeler": (0.16, 0.02, 0.07),
    "corkscrew": (0.17, 0.04, 0.08), "toaster": (0.28, 0.19, 0.18), "blender": (0.18, 0.29, 0.17),
    "hand_mixer": (0.20, 0.15, 0.10), "kettle": (0.22, 0.24, 0.16), "kitchen_scale": (0.20, 0.04, 0.16),
    # Food
    "butter": (0.12, 0.04, 0.07), "cheese": (0.14, 0.07, 0.10), "milk_carton": (0.07, 0.24, 0.07),
    "yoghurt_pot": (0.09, 0.11, 0.09), "egg_box": (0.15, 0.07, 0.10), "lettuce": (0.17, 0.14, 0.17),
    "carrot": (0.18, 0.03, 0.03), "apple": (0.08, 0.08, 0.08), "banana": (0.19, 0.04, 0.09),
    "orange": (0.08, 0.08, 0.08), "pear": (0.07, 0.10, 0.07), "lemon": (0.09, 0.06, 0.06),
    "cereal_box": (0.19, 0.28, 0.07), "pasta_packet": (0.11, 0.25, 0.07), "rice_bag": (0.15, 0.22, 0.08),
    "flour_bag": (0.11, 0.18, 0.08), "sugar_jar": (0.11, 0.15, 0.11), "soup_can": (0.07, 0.10, 0.07),
    "bread_loaf": (0.27, 0.12, 0.12), "oatmeal_tin": (0.13, 0.24, 0.13), "jam_jar": (0.07, 0.10, 0.07),
    "honey_jar": (0.08, 0.11, 0.08), "peanut_butter_jar": (0.09, 0.12, 0.09), "olive_oil_bottle": (0.07, 0.29, 0.07),
    "vinegar_bottle": (0.06, 0.27, 0.06), "salt_shaker": (0.05, 0.10, 0.05), "pepper_mill": (0.06, 0.20, 0.06),
    "spice_jar": (0.05, 0.10, 0.05), "mustard_jar": (0.06, 0.11, 0.06), "coffee_tin": (0.12, 0.17, 0.12),
    "tea_box": (0.15, 0.08, 0.09), "teapot": (0.23, 0.15, 0.15), "coffee_filter_box": (0.14, 0.13, 0.05),
    "biscuit_packet": (0.22, 0.06, 0.06), "chocolate_bar": (0.16, 0.015, 0.08), "crisps_packet": (0.20, 0.26, 0.08),
    "nut_jar": (0.09, 0.13, 0.09), "sweets_jar": (0.12, 0.18, 0.12), "water_bottle": (0.08, 0.26, 0.08),
    "juice_carton": (0.09, 0.24, 0.07), "soda_can": (0.07, 0.12, 0.07), "beer_bottle": (0.06, 0.24, 0.06),
    # Linen, cleaning, laundry
    "tea_towel": (0.25, 0.03, 0.19), "oven_glove": (0.30, 0.04, 0.17), "apron": (0.28, 0.04, 0.22),
    "napkin_pack": (0.17, 0.06, 0.17), "placemat": (0.42, 0.01, 0.29), "trivet": (0.19, 0.02, 0.19),
    "sponge": (0.11, 0.04, 0.07), "dish_soap": (0.09, 0.22, 0.05), "dish_brush": (0.25, 0.06, 0.06),
    "dishwasher_tablets": (0.18, 0.22, 0.08), "spray_bottle": (0.11, 0.27, 0.07), "dustpan": (0.33, 0.09, 0.22),
    "scrubbing_brush": (0.17, 0.06, 0.07), "bin_bags": (0.20, 0.06, 0.06), "duster": (0.38, 0.07, 0.09),
    "detergent_bottle": (0.20, 0.29, 0.11), "softener_bottle": (0.14, 0.27, 0.09), "clothes_pegs": (0.20, 0.12, 0.14),
    "iron": (0.28, 0.15, 0.12), "stain_remover": (0.10, 0.26, 0.06), "bath_towel": (0.34, 0.11, 0.26),
    "hand_towel": (0.24, 0.07, 0.18), "face_cloth": (0.15, 0.03, 0.15), "bathrobe": (0.36, 0.13, 0.30),
    # Washing and health
    "toothbrush": (0.19, 0.02, 0.02), "toothpaste": (0.18, 0.04, 0.05), "soap_bar": (0.09, 0.03, 0.06),
    "hairbrush": (0.23, 0.05, 0.07), "comb": (0.18, 0.01, 0.04), "razor": (0.15, 0.03, 0.05),
    "deodorant": (0.06, 0.15, 0.06), "hand_cream": (0.15, 0.03, 0.05), "shampoo_bottle": (0.08, 0.22, 0.05),
    "shower_gel": (0.07, 0.20, 0.05), "bath_salts": (0.10, 0.14, 0.10), "rubber_duck": (0.10, 0.09, 0.08),
    "pill_bottle": (0.05, 0.09, 0.05), "plaster_box": (0.12, 0.08, 0.04), "thermometer": (0.13, 0.02, 0.02),
    "first_aid_kit": (0.26, 0.18, 0.10), "toilet_roll": (0.11, 0.10, 0.11), "tissue_box": (0.23, 0.09, 0.12),
    "cotton_pads": (0.07, 0.16, 0.07),
    # Reading and writing
    "novel": (0.13, 0.03, 0.20), "dictionary": (0.16, 0.06, 0.23), "photo_album": (0.31, 0.05, 0.29),
    "atlas": (0.29, 0.03, 0.38), "poetry_book": (0.12, 0.02, 0.18), "magazine": (0.21, 0.01, 0.28),
    "newspaper": (0.29, 0.02, 0.38), "comic_book": (0.17, 0.01, 0.26), "cookbook": (0.20, 0.03, 0.26),
    "recipe_box": (0.17, 0.12, 0.12), "pen": (0.14, 0.01, 0.015), "pencil_case": (0.21, 0.05, 0.08),
    "stapler": (0.15, 0.06, 0.04), "notebook": (0.15, 0.02, 0.21), "ruler": (0.31, 0.01, 0.04),
    "tape_dispenser": (0.15, 0.07, 0.06), "envelope_pack": (0.23, 0.03, 0.12), "calculator": (0.09, 0.02, 0.16),
    "scissors": (0.21, 0.02, 0.08),
    # Electronics and play
    "laptop": (0.33, 0.03, 0.23), "tablet": (0.25, 0.02, 0.17), "keyboard": (0.44, 0.03, 0.14),
    "computer_mouse": (0.07, 0.04, 0.11), "phone_charger": (0.08, 0.04, 0.06), "usb_stick": (0.06, 0.01, 0.02),
    "remote_control": (0.05, 0.025, 0.18), "game_controller": (0.16, 0.06, 0.11), "headphones": (0.18, 0.09, 0.19),
    "dvd_case": (0.14, 0.02, 0.19), "speaker": (0.16, 0.25, 0.16), "board_game": (0.30, 0.07, 0.30),
    "card_deck": (0.07, 0.025, 0.09), "jigsaw_box": (0.28, 0.06, 0.20), "chess_set": (0.36, 0.06, 0.36),
    "teddy_bear": (0.22, 0.28, 0.18), "toy_car": (0.14, 0.07, 0.08), "building_blocks": (0.24, 0.17, 0.19),
    "doll": (0.13, 0.28, 0.08), "toy_train": (0.26, 0.09, 0.07), "toy_drum": (0.19, 0.16, 0.19),
    "puppet": (0.18, 0.26, 0.09), "toy_boat": (0.21, 0.16, 0.09), "crayon_box": (0.12, 0.11, 0.03),
    "paint_set": (0.25, 0.03, 0.15), "glue_bottle": (0.06, 0.15, 0.04), "modelling_clay": (0.16, 0.05, 0.12),
    "coloring_book": (0.21, 0.01, 0.28), "sheet_music": (0.23, 0.01, 0.31), "metronome": (0.11, 0.22, 0.11),
    "harmonica": (0.11, 0.03, 0.04), "tambourine": (0.22, 0.06, 0.22),
    # Sleeping and dressing
    "pillow": (0.45, 0.14, 0.35), "blanket": (0.38, 0.12, 0.30), "bed_sheet": (0.32, 0.07, 0.25),
    "hot_water_bottle": (0.20, 0.05, 0.30), "jumper": (0.34, 0.08, 0.28), "t_shirt": (0.28, 0.03, 0.24),
    "socks": (0.16, 0.05, 0.10), "pyjamas": (0.30, 0.06, 0.25), "belt": (0.13, 0.04, 0.13),
    "hat": (0.28, 0.13, 0.28), "scarf": (0.24, 0.08, 0.19), "gloves": (0.22, 0.05, 0.13),
    "umbrella": (0.46, 0.06, 0.06), "shoes": (0.28, 0.11, 0.21), "boots": (0.29, 0.27, 0.22),
    "slippers": (0.27, 0.08, 0.20), "sandals": (0.27, 0.07, 0.20), "keys": (0.10, 0.02, 0.06),
    "wallet": (0.12, 0.025, 0.10), "sunglasses": (0.15, 0.05, 0.06), "handbag": (0.30, 0.24, 0.13),
    "backpack": (0.32, 0.30, 0.19), "watch": (0.08, 0.04, 0.07),
    # About the house
    "vase": (0.14, 0.28, 0.14), "candle": (0.08, 0.12, 0.08), "picture_frame": (0.19, 0.24, 0.08),
    "figurine": (0.10, 0.20, 0.08), "clock": (0.20, 0.20, 0.08), "candlestick": (0.11, 0.24, 0.11),
    "flower_pot": (0.17, 0.26, 0.17), "watering_can": (0.30, 0.25, 0.16), "cactus": (0.11, 0.16, 0.11),
    "plant_mister": (0.10, 0.23, 0.09), "table_lamp": (0.24, 0.30, 0.24), "reading_light": (0.16, 0.30, 0.14),
    "night_light": (0.10, 0.12, 0.10), "hammer": (0.30, 0.04, 0.12), "screwdriver": (0.22, 0.03, 0.03),
    "torch": (0.17, 0.05, 0.05), "battery_pack": (0.11, 0.02, 0.12), "tape_measure": (0.08, 0.07, 0.04),
    "light_bulb": (0.07, 0.12, 0.07), "dog_bowl": (0.20, 0.07, 0.20), "dog_lead": (0.18, 0.05, 0.14),
    "cat_toy": (0.14, 0.06, 0.06), "pet_food_can": (0.08, 0.09, 0.08),
}  # fmt: skip
"""Width, height and depth of each category in metres. All heights fit between a worktop and the cabinet above it."""
