"""Files of baskets: FIMI lines, item lines, tables, bit columns and published groups."""
