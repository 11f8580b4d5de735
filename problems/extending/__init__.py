"""Extensions of the library from outside: one short, runnable example for each kind."""
