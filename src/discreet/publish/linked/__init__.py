"""Privacy at publication of tables about the same people: several at once, or one again and again."""
