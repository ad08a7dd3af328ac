"""A small world for tools: files, a repository, databases, office files, mail, a web site."""

from sayso.verify.inputs.world.values import SAFE_STATEMENTS
from sayso.verify.inputs.world.web import Site, serve_world
from sayso.verify.inputs.world.world import INSIDE, World, make_world

__all__ = ["INSIDE", "SAFE_STATEMENTS", "Site", "World", "make_world", "serve_world"]
