"""STARS (AAAI 2024, arXiv 2306.06770): learn where things belong from goals that a language model suggests.

The method, in order: :mod:`retrieval` asks for goals with the :mod:`search_tree`, :mod:`analysis` checks whether they
can be understood, perceived and done, :mod:`repair` asks for better ones, :mod:`selection` picks one,
:mod:`oversight` lets the user confirm or state it, :mod:`planning` finds actions, and :mod:`goal_memory` learns and
recalls goals. :mod:`stars_loop` runs these steps for one object after the other.

Language: :mod:`goal_grammar` parses sentences into :mod:`goal_clauses` over a :mod:`vocabulary`; :mod:`situation`
grounds them in what is perceived. Data: :mod:`data_files`, :mod:`tasks`, :mod:`prompts`. Experiments:
:mod:`experiment_conditions`, :mod:`episode_measures`, :mod:`model_usage`, and the baselines :mod:`viable_goals` and
:mod:`nearest_meaning`.
"""
