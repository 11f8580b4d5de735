"""Transcription: from a statement to a program, and from a point of the program to a solution."""
