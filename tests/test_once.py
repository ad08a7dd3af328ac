"""What is worked out once for an object."""

from sayso.once import Once


def test_it_is_made_once_for_each_object_and_not_for_its_equals() -> None:
    made: list[list[int]] = []
    sizes = Once[list[int], int](lambda one: made.append(one) or len(one), most=10)
    one, equal = [1], [1]
    assert (sizes.of(one), sizes.of(one), sizes.of(equal)) == (1, 1, 1)
    assert len(made) == 2


def test_it_forgets_where_there_are_too_many_and_makes_them_anew() -> None:
    copies = Once[list[int], list[int]](list, most=2)
    kept = [[1], [2], [3]]
    first = copies.of(kept[0])
    assert copies.of(kept[1]) == [2]
    assert copies.of(kept[0]) is first
    assert copies.of(kept[2]) == [3]
    assert copies.of(kept[0]) == first
    assert copies.of(kept[0]) is not first
