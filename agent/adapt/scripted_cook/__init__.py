"""Scripted cooks without a language model: the oracle, the teacher of training data, and baselines of ADAPT.

:mod:`oracle_cook` selects wishes (:mod:`wish_selection`), plans a menu (:mod:`menu_planning`) and prepares it
(:mod:`menu_execution`, on top of :mod:`kitchen_actions`). :mod:`exploring_cook` and :mod:`asking_cook` wrap it.
"""
