"""The documentation site, built from the Markdown in the repository and from the code itself."""
