"""Exports: folders of C files with a header, an example, a README and build files."""
