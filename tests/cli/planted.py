"""A secret that must never be told, and the roles of the table it is planted in."""

from __future__ import annotations

SECRET = "Zyzzogeton-4711"
ROLES = ["--quasi", "age,zip", "--sensitive", "disease", "--identifier", "name"]
