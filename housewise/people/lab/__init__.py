"""People in the lab who act and do not know its devices: scripted, or played by a chat model (paper, section 4.3)."""
