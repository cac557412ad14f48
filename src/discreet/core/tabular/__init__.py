"""Tables of counts or sums: their cells, their margins, and how these add up."""
