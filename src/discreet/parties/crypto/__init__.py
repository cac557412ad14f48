"""The cryptographic building blocks of protocols: a prime-order group, block ciphers, oblivious functions."""
