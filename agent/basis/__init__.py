"""BASIS (COLM 2025): an assistant that sees what a person sees, cannot act, and guides them by speech.

Read ``views`` first (what an assistant may know), then ``scripted_oracle`` and ``chat_assistant``.
"""
