"""The lab of BASIS (COLM 2025): devices, things, their rules, scenarios, and the view of the person who acts in it."""
