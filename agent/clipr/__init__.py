"""CLIPR (arXiv 2605.12682): learn readable rules from at most ten questions to a person, and choose by them.

A method is a generator that yields :mod:`actions` and receives observations. The method, in order: :mod:`elicitation`
asks questions and has rules written (Algorithm 1), :mod:`rules` parses and formats rules, :mod:`action_choice` chooses
by them, :mod:`adaptive` revises them (Algorithm 2), :mod:`methods` puts the steps together. :mod:`baselines` has the
methods that CLIPR is compared with. :mod:`language_steps` is the interface of all steps that need language;
:mod:`chat_steps`, :mod:`local_steps` and :mod:`finetuned_chooser` implement it.

Interviews outside of runs: :mod:`conversation` has people answer the questions of Algorithm 1,
:mod:`terminal_interview` parses the answers of real people with :mod:`answer_phrases`, :mod:`rule_editing` changes
stored rules and :mod:`memory_notes` converts answers and rules to notes. Rules about places in a house are in
:mod:`house_groups`, :mod:`house_interview` (simulated people), :mod:`house_questions` (real people),
:mod:`house_rules`, :mod:`house_notes` and :mod:`house_place_words`.
"""
