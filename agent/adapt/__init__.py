"""ADAPT (arXiv 2504.04040): cook for a person and decide when to ask them about their preferences.

:mod:`planner_prompt` and :mod:`policy` are the method: the prompt, and a chat model that acts or asks, held to the
:mod:`action_grammar`. Reflection-DPO is in housewise.selftrain.adapt.reflection_dpo. :mod:`scripted_cook` is ours: the
oracle, the teacher of training data and the scripted baselines.
"""
