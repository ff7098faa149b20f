"""Commands with more to them than a few lines, each in a module of its own."""

from bayesmend.commands.answering import impute, query
from bayesmend.commands.demonstration import demo
from bayesmend.commands.mending import learn
from bayesmend.commands.reproducing import reproduce
from bayesmend.commands.search import ProgressLine
from bayesmend.commands.structures import structure

__all__ = [
    "ProgressLine",
    "demo",
    "impute",
    "learn",
    "query",
    "reproduce",
    "structure",
]
