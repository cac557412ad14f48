"""Secrets in addresses are neither shown nor written, whatever the driver calls them."""

from __future__ import annotations

import pytest

from discreet.engines.addresses import address_of
from discreet.engines.destinations import without_password

SECRET = "sEcReT77"


@pytest.mark.parametrize(
    "name",
    [
        *("password", "PASSWORD", "sslpassword", "passwd", "pwd", "pass", "pasword", "scram_client_key"),
        *("oauth_client_secret", "client_secret", "account_key", "secret_key", "access_key", "session_token"),
        *("token", "sig", "credential"),
    ],
)
@pytest.mark.parametrize(
    "begin", ["postgresql://ann@host/clinic?table=t", "abfss://c@a.dfs.core.windows.net/x.csv?region=eu"]
)
def test_no_option_that_holds_a_secret_is_shown(begin: str, name: str) -> None:
    address = address_of(f"{begin}&{name}={SECRET}")
    assert address is not None
    for text in (str(address), repr(address), address.login, without_password(address.url)):
        assert SECRET not in text
    assert SECRET in address.connection
    assert str(address) == begin


def test_what_is_no_secret_stays() -> None:
    url = "postgresql://ann@host/clinic?table=t&sslmode=require&passfile=/home/ann/pass&sslkey=ann.key"
    assert str(address_of(url)) == url
