"""The one order in which a request is let in: by which name, from which page, from whom."""

from avow.access.arrival import Arrival
from avow.access.origin import Names, is_own_host, is_own_origin
from avow.access.refusal import RefusedError
from avow.access.together import Access
from avow.policy import Principal


async def admit(arrival: Arrival, access: Access, names: Names) -> Principal:
    """Who a request comes from, once it has come by avow's name and from no foreign page.

    Raises `RefusedError`, and `StoreError` where the store fails.
    """
    if not is_own_host(arrival.headers, names):
        raise RefusedError(421, "This gateway does not go by that name.")
    if not is_own_origin(arrival.headers, names):
        raise RefusedError(403, "Web pages of others may not call this gateway.")
    return await access.identify(arrival)
