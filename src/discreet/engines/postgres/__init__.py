"""PostgreSQL: tables whose rows are counted, recoded and judged in the database."""
