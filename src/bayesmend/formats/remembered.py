"""How the table learned from was read, kept in files of networks.

JSON and GraphML hold the schema as it is. In BIF and XMLBIF it is one property, which
other readers ignore: JSON, packed by zlib, in the letters of URL-safe base64.
"""

import base64
import json
import zlib
from typing import Any

from bayesmend.data.schema import Schema
from bayesmend.errors import DataError
from bayesmend.formats.text import Source

__all__ = ["PROPERTY", "pack_schema", "read_schema", "unpack_schema"]

PROPERTY = "bayesmend_schema"
"""The name of the property in BIF and XMLBIF."""

_MOST_BYTES = 2**28  # of an unpacked schema: a file is no bomb


def pack_schema(schema: Schema) -> str:
    """Return a schema as a property: a name, an equals sign and one word.

    Examples
    --------
    >>> pack_schema(Schema(()))[:20]
    'bayesmend_schema = e'
    """
    plain = json.dumps(schema.to_dict(), ensure_ascii=False, allow_nan=False)
    packed = base64.urlsafe_b64encode(zlib.compress(plain.encode(), 9))
    return f"{PROPERTY} = {packed.decode().rstrip('=')}"


def unpack_schema(source: Source, text: str, where: int) -> Schema | None:
    """Read a property; None when it is another one."""
    name, _, packed = text.partition("=")
    if name.strip() != PROPERTY:
        return None
    word = packed.strip()
    unpacker = zlib.decompressobj()
    try:
        content = base64.b64decode(
            word + "=" * (-len(word) % 4), altchars=b"-_", validate=True
        )
        plain = unpacker.decompress(content, _MOST_BYTES)
        document = json.loads(plain)
    except (ValueError, zlib.error, RecursionError):
        source.fail(f"the property {PROPERTY} cannot be unpacked.", where)
    return read_schema(source, document, where)


def read_schema(source: Source, plain: Any, where: int) -> Schema | None:
    """Read a schema in plain types; None stays None."""
    if plain is None:
        return None
    try:
        return Schema.from_dict(plain)
    except DataError as error:
        source.fail(f"the schema cannot be read: {error}", where)
