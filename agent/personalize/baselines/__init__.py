"""Planners of other papers, to compare with: SayPlan and SayCan. LLM-Planner is agent.personalize.planner.LLMPlanner,
untrained."""
