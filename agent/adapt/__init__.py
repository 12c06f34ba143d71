"""ADAPT (arXiv 2504.04040): cook for a person and decide when to ask them about their preferences.

:mod:`llm_cook` is the method: a chat model that acts or asks, with the words of :mod:`prompts` and the
:mod:`action_grammar`. :mod:`scripted_cook` has the oracle, the teacher of training data and the scripted baselines.
Training by Reflection-DPO is in housewise.selftrain.adapt.
"""
