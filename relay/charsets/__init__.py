"""The servers' character sets: what bytes in a row, or in a table map's labels, say."""

from relay.charsets.decoders import byte_characters, decoder, is_utf8, lenient_decoder

__all__ = ["byte_characters", "decoder", "is_utf8", "lenient_decoder"]
