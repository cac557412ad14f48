"""The tables experiment: what anonymized tables lose by columns and by k, and how ratings are found again."""
