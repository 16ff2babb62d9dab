package roma.hbase;

import java.io.ByteArrayOutputStream;
import java.util.zip.CRC32;

/** The row key of a message key, byte for byte as row_key.py makes it. */
public final class RowKey {
    private final byte[] json;
    private final ByteArrayOutputStream joined = new ByteArrayOutputStream(64);
    private int at = 0;

    private RowKey(byte[] json) {
        this.json = json;
    }

    /** @param json the key of the message: an array of texts, the table's name first */
    public static byte[] of(byte[] json, int saltBuckets) {
        RowKey key = new RowKey(json);
        key.join();
        return key.salted(saltBuckets);
    }

    private void join() {
        expect('[');
        text(false);
        for (int values = 0; json[at] == ','; values++) {
            at++;
            if (values > 0) {
                joined.write(0);
                joined.write(1);
            }
            text(true);
        }
        expect(']');
    }

    private byte[] salted(int buckets) {
        if (joined.size() == 0) {
            joined.write(0);
            joined.write(0);
        }
        byte[] plain = joined.toByteArray();
        if (buckets == 0) {
            return plain;
        }
        CRC32 sum = new CRC32();
        sum.update(plain, 0, plain.length);
        byte[] salted = new byte[plain.length + 1];
        salted[0] = (byte) (sum.getValue() % (long) buckets);
        System.arraycopy(plain, 0, salted, 1, plain.length);
        return salted;
    }

    private void text(boolean wanted) {
        expect('"');
        while (json[at] != '"') {
            if (json[at] == '\\') {
                escaped(wanted);
            } else {
                if (wanted) {
                    joined.write(json[at]);
                }
                at++;
            }
        }
        at++;
    }

    private void escaped(boolean wanted) {
        int letter = json[at + 1];
        at += 2;
        int character = letter == 'u' ? codePoint() : plain(letter);
        if (wanted) {
            utf8(character);
        }
    }

    private static int plain(int letter) {
        switch (letter) {
            case 'b': return 8;
            case 'f': return 12;
            case 'n': return 10;
            case 'r': return 13;
            case 't': return 9;
            default: return letter;
        }
    }

    private int codePoint() {
        int first = unit();
        if (!Character.isHighSurrogate((char) first)) {
            return first;
        }
        at += 2; // the second half has its own \\u
        return Character.toCodePoint((char) first, (char) unit());
    }

    private int unit() {
        int found = Integer.parseInt(new String(json, at, 4, java.nio.charset.StandardCharsets.US_ASCII), 16);
        at += 4;
        return found;
    }

    /** A NUL inside a value is written 00 FF: 00 01 is the border between two values. */
    private void utf8(int character) {
        if (character == 0) {
            joined.write(0);
            joined.write(255);
        } else if (character < 128) {
            joined.write(character);
        } else {
            byte[] bytes = new String(Character.toChars(character)).getBytes(java.nio.charset.StandardCharsets.UTF_8);
            joined.write(bytes, 0, bytes.length);
        }
    }

    private void expect(char wanted) {
        if (json[at] != wanted) {
            throw new IllegalArgumentException("a message key that is no array of texts: " + new String(json, java.nio.charset.StandardCharsets.UTF_8));
        }
        at++;
    }
}
