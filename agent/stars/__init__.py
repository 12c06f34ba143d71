"""STARS (AAAI 2024, arXiv 2306.06770): learn where things belong from goals that a language model suggests.

The published method is in three modules:

- :mod:`search_tree`: template-based prompting (``construct_prompt``, the baseline ``sample_goals``) and the search
  tree (``SearchTree.grow``).
- :mod:`analysis_and_repair`: analysis of language, situation and affordances (``GoalAnalyser.analyse``) and repair
  (``repair_candidates``).
- :mod:`stars_loop`: the approach for one object (``GoalLearner.learn_object``), selection (``NumberedSelector``) and
  user oversight.

They use the types in :mod:`responses`, :mod:`lessons`, :mod:`situation`, :mod:`goal_clauses`, :mod:`tasks` and
:mod:`model_usage`; the robot's language (:mod:`vocabulary`, :mod:`goal_grammar`); and templates (:mod:`prompts`).
Beside them stand internal :mod:`planning`, the :mod:`goal_memory`, the :mod:`experiment_conditions`, the
:mod:`episode_measures` and :mod:`data_files`.

Ours: :mod:`goal_notes` (learned goals as notes that people can edit), users in :mod:`oversight`, other ways of
:mod:`retrieval` and :mod:`other_selectors`, and the baselines :mod:`viable_goals` and :mod:`nearest_meaning`.
"""
