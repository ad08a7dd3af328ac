"""The one order in which a request is let in: by which name, from which page, from whom."""

from sayso.access.chain import Access
from sayso.access.origin import Names, is_own_host, is_own_origin
from sayso.access.refusal import RefusedError
from sayso.access.request_info import Arrival
from sayso.policy import Principal


async def admit(arrival: Arrival, access: Access, names: Names) -> Principal:
    """Who a request comes from, once it has come by sayso's name and from no foreign page.

    Raises `RefusedError`, and `StoreError` where the store fails.
    """
    if not is_own_host(arrival.headers, names):
        raise RefusedError(421, "This gateway does not go by that name.")
    if not is_own_origin(arrival.headers, names):
        raise RefusedError(403, "Web pages of others may not call this gateway.")
    return await access.identify(arrival)
