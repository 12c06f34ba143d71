"""Planners of other papers: SayPlan and SayCan. LLM-Planner is LLMPlanner with an untrained model."""
