"""Transcription: a statement becomes a program, and a point of the program becomes a motion."""
