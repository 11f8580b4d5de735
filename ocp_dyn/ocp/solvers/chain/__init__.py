"""Factorization of KKT matrices whose rows form a chain of dense fronts: a linear solver under IPOPT, in C."""
