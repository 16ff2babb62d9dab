"""The servers' character sets: decode the bytes of rows and of table map labels."""

from relay.charsets.decoders import byte_characters, decoder, is_utf8, lenient_decoder

__all__ = ["byte_characters", "decoder", "is_utf8", "lenient_decoder"]
