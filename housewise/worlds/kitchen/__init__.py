"""The text kitchen (ADAPT): symbolic state, actions, dynamics, trace, and the world and environment built on them."""
