"""The servers' character sets: decoders for the bytes of rows and of labels in table maps.
`relay.decode` and `relay.encode` use them.
"""

from relay.charsets.decoders import byte_characters, decoder, is_utf8, lenient_decoder

__all__ = ["byte_characters", "decoder", "is_utf8", "lenient_decoder"]
