"""The library's own C, as loaded libraries. Its page is README.md in this folder; other rooms import `libraries`."""
