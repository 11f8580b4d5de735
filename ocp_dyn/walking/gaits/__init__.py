"""Many gaits: grids of speeds, slopes and step lengths, and walks held beside measurements."""
