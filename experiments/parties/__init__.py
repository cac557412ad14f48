"""Mining between parties: bytes, rounds and seconds by rows, items and parties."""
