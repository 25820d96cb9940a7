"""Persistent textures: incremental equals rebuilt, bit for bit, whatever comes; what counts as damage; the pool."""

from __future__ import annotations

import threading

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from tensor_support import DEVICES, DTYPES, exact, generator, image, uniform  # noqa: E402


def same_as_rebuilt(texture, odd="edge") -> bool:
    base = texture.level(0).clone()
    fresh = sc.TexturePyramid(base, levels=texture.levels, odd=odd)
    return all(torch.equal(exact(texture.level(n)), exact(fresh.level(n))) for n in range(texture.levels))


def changed_tiles(before, after, threshold=0.0, min_samples=0):
    """[rows, columns] by brute force: more than `min_samples` samples, of all channels, by more than `threshold`."""
    different = ((exact(after) - exact(before)).abs() > threshold).sum(-3)
    height, width = different.shape[-2:]
    padded = torch.nn.functional.pad(different, (0, -width % 16, 0, -height % 16))
    tiles = padded.unflatten(-1, (-1, 16)).unflatten(-3, (-1, 16)).sum((-3, -1))
    return tiles > min_samples


def scribble(frame, numbers):
    """Change a random rectangle, a single pixel, or nothing."""
    frame = frame.clone()
    kind = int(torch.randint(3, (1,), generator=numbers))
    height, width = frame.shape[-2:]
    y, x = (int(torch.randint(n, (1,), generator=numbers)) for n in (height, width))
    if kind == 0:
        rows, columns = (int(torch.randint(1, 40, (1,), generator=numbers)) for _ in range(2))
        region = frame[..., y : y + rows, x : x + columns]
        fresh = image(*region.shape, dtype=frame.dtype, seed=int(torch.randint(1 << 30, (1,), generator=numbers)))
        frame[..., y : y + rows, x : x + columns] = fresh.to(frame.device)
    elif kind == 1:
        frame[..., 0, y, x] = image(1, dtype=frame.dtype, seed=y).to(frame.device)[0]
    return frame


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("odd", ["edge", "floor"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_incremental_is_rebuilt_on_random_sequences(dtype, odd, device):
    numbers = generator(7)
    levels = 7 if odd == "edge" else 5
    texture = sc.TexturePyramid.create_persistent(
        (53, 90), channels=2, dtype=dtype, levels=levels, odd=odd, device=device
    )
    frame = image(2, 53, 90, dtype=dtype).to(device)
    for step in range(12):
        before = texture.level(0).clone()
        damage = texture.update(frame)
        want = changed_tiles(before, frame) if step else torch.ones(4, 6, dtype=torch.bool, device=device)
        assert torch.equal(damage.tiles, want), step
        assert int(damage.count) == int(want.sum())
        assert torch.equal(exact(texture.level(0)), exact(frame))
        assert same_as_rebuilt(texture, odd), step
        frame = scribble(frame, numbers)


@pytest.mark.parametrize("device", DEVICES)
def test_batches_have_their_own_damage(device):
    texture = sc.TexturePyramid.create_persistent(size=(40, 40), channels=1, batch=3, device=device)
    frames = image(3, 1, 40, 40, dtype=torch.uint8).to(device)
    assert texture.update(frames).tiles.shape == (3, 3, 3)
    frames = frames.clone()
    frames[1, 0, 30, 3] ^= 1
    tiles, count, energy = texture.update(frames)
    assert int(count) == 1
    assert bool(tiles[1, 1, 0])
    assert float(energy[1, 1, 0]) == 1.0
    assert same_as_rebuilt(texture)


def test_threshold_keeps_small_changes_out_and_drift_in():
    texture = sc.TexturePyramid.create_persistent((32, 32), channels=1, threshold=8)
    frame = torch.full((1, 32, 32), 100, dtype=torch.uint8)
    texture.update(frame)
    assert int(texture.update(frame + 8).count) == 0
    assert texture.level(0)[0, 0, 0] == 100
    assert int(texture.update(frame + 9).count) == 4
    assert texture.level(0)[0, 0, 0] == 109


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_min_samples_counts_the_samples_of_all_channels(device, dtype):
    texture = sc.TexturePyramid.create_persistent((16, 48), channels=3, dtype=dtype, device=device, min_samples=6)
    frame = torch.zeros(3, 16, 48, dtype=dtype, device=device)
    texture.update(frame)
    changed = frame.to(torch.float32)
    changed[:, 0, 0:2] = 9  # two pixels, six samples
    changed[:, 0, 16:18] = changed[0, 1, 16] = 9  # seven
    changed[2, 0, 32:39] = 9  # seven of one channel
    assert texture.update(changed.to(dtype)).tiles.tolist() == [[False, True, True]]
    assert exact(texture.level(0))[0, 0, :2].tolist() == [0, 0]


@pytest.mark.parametrize("device", DEVICES)
def test_threshold_is_in_8_bit_codes_of_integers(device):
    for dtype, code in ((torch.uint8, 1), (torch.uint16, 256)):
        texture = sc.TexturePyramid.create_persistent((16, 32), channels=1, dtype=dtype, device=device, threshold=3)
        frame = torch.zeros(1, 16, 32, dtype=torch.int32)
        texture.update(frame.to(dtype).to(device))
        frame[0, 0, 0], frame[0, 0, 16] = 3 * code, 3 * code + 1
        assert texture.update(frame.to(dtype).to(device)).tiles.tolist() == [[False, True]]


def test_min_pixels_is_accepted_with_a_warning_for_one_version():
    for make in (
        lambda: sc.TexturePyramid.create_persistent((16, 16), min_pixels=2),
        lambda: sc.TexturePool(1, (16, 16), min_pixels=2).acquire(),
        lambda: sc.channels.ChannelStack((16, 16), ["luma"], min_pixels=2).frame,
    ):
        with pytest.warns(DeprecationWarning, match="min_pixels leaves with the next version; use min_samples"):
            assert make().min_samples == 2


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_energy_counts_every_pixel_of_a_tile_at_the_edge_once(device, dtype):
    height, width = 21, 37  # tiles of 5 rows, of 5 columns, and of both
    texture = sc.TexturePyramid.create_persistent((height, width), channels=2, dtype=dtype, device=device, levels=3)
    before = torch.zeros(2, height, width, dtype=torch.float64)
    after = (uniform(2, height, width, dtype=torch.float64, seed=3) * 9).floor()
    texture.update(before.to(dtype).to(device))
    energy = texture.update(after.to(dtype).to(device)).energy.cpu()
    whole = torch.zeros(32, 48, dtype=torch.float64)
    whole[:height, :width] = after.sum(0)
    assert torch.equal(energy.double(), whole.reshape(2, 16, 3, 16).sum((1, 3)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("least", [0, 1, 4])
def test_tile_changes_where_more_than_min_samples_do(device, least):
    texture = sc.TexturePyramid.create_persistent((32, 32), device=device, min_samples=least)
    frame = torch.zeros(3, 32, 32, dtype=torch.uint8, device=device)
    texture.update(frame)
    frame[0, 0, :least] = 1
    frame[1, 20, 16 : 17 + least] = 1
    assert texture.update(frame).tiles.cpu().tolist() == [[False, False], [False, True]]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_partial_updates_write_what_was_named_and_nothing_else(dtype, device):
    texture = sc.TexturePyramid.create_persistent((45, 61), channels=2, dtype=dtype, device=device)
    old, new = (image(2, 45, 61, dtype=dtype, seed=seed).to(device) for seed in (1, 2))
    texture.update(old)
    pixels = torch.zeros(45, 61, dtype=torch.bool, device=device)
    pixels[3:9, 14:30] = True
    damage = texture.update_partial(new, pixels)
    assert torch.equal(texture.level(0), torch.where(pixels, new, old))
    assert int(damage.count) == 2
    assert same_as_rebuilt(texture)
    tiles = torch.zeros(3, 4, dtype=torch.bool, device=device)
    tiles[2, 3] = True
    texture.update_partial(new, tiles)
    assert torch.equal(texture.level(0)[:, 32:, 48:], new[:, 32:, 48:])
    assert torch.equal(texture.level(0)[:, :32, 48:], old[:, :32, 48:])
    assert same_as_rebuilt(texture)
    rest = texture.update_partial(new)
    assert torch.equal(texture.level(0), new)
    other = sc.TexturePyramid.create_persistent((45, 61), channels=2, dtype=dtype, device=device)
    other.update(torch.where(pixels, new, old))
    other.update_partial(new, rest)
    assert torch.equal(other.level(0)[:, 16:32, 16:32], new[:, 16:32, 16:32])


@pytest.mark.parametrize("device", DEVICES)
def test_levels_follow_what_was_written_into_level_zero(device):
    texture = sc.TexturePyramid.create_persistent((64, 64), channels=1, dtype=torch.float32, device=device)
    texture.update(image(1, 64, 64).to(device))
    texture.level(0)[:, 20:40, 20:24] = 5
    damaged = torch.zeros(64, 64, dtype=torch.bool, device=device)
    damaged[20:40, 20:24] = True
    texture.update_mipmaps_incremental(damaged)
    assert same_as_rebuilt(texture)
    texture.level(0)[:, 0, 0] = 7
    texture.update_mipmaps_incremental()
    assert same_as_rebuilt(texture)


def test_memory_stays_where_it_is():
    texture = sc.TexturePyramid.create_persistent(resolution=(96, 64), channels=3)
    assert texture.size == (64, 96)
    places = [texture.level(n).data_ptr() for n in range(texture.levels)]
    for seed in range(3):
        texture.update(image(3, 64, 96, dtype=torch.uint8, seed=seed))
    assert places == [texture.level(n).data_ptr() for n in range(texture.levels)]


def test_video_loop_samples_the_newest_frame():
    texture = sc.TexturePyramid.create_persistent((64, 64), channels=3)
    lattice = sc.Lattice(tokens=40, size=(64, 64), levels=5)
    plan = lattice.plan(torch.tensor([0.4, 0.6]))
    for seed in range(4):
        frame = image(3, 64, 64, dtype=torch.uint8, seed=seed)
        texture.update(frame)
        assert torch.equal(texture.sample_patches(plan), sc.TexturePyramid(frame).sample_patches(plan))


def test_strided_frames_and_masks_are_read_in_place():
    texture = sc.TexturePyramid.create_persistent((48, 64), channels=3)
    frame = image(48, 64, 3, dtype=torch.uint8).permute(2, 0, 1)
    texture.update(frame)
    assert torch.equal(texture.level(0), frame)
    mask = torch.zeros(64, 48, dtype=torch.bool)
    mask[5, 7] = True
    texture.update_partial(255 - frame, mask.t())
    assert int((texture.level(0) != frame).any(0).sum()) == 1
    assert same_as_rebuilt(texture)


def test_gradients_are_refused_in_words():
    texture = sc.TexturePyramid.create_persistent((32, 32), channels=1, dtype=torch.float32)
    with pytest.raises(ValueError, match=r"gives no gradient; pass frame.detach\(\)"):
        texture.update(image(1, 32, 32).requires_grad_())
    uv = uniform(4, 2).requires_grad_()
    with pytest.raises(ValueError, match="a persistent texture gives no gradient"):
        sc.sample(texture, uv)
    with torch.no_grad():
        assert sc.sample(texture, uv).shape == (1, 4)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda t: t.update(torch.zeros(3, 32, 31, dtype=torch.uint8)), ValueError, "frame is uint8 .3, 32, 31.; the"),
        (lambda t: t.update(torch.zeros(3, 32, 32)), ValueError, "frame is float32 .3, 32, 32.; the texture is uint8"),
        (lambda t: t.update([1]), TypeError, "frame takes a torch tensor, not list"),
        (lambda t: t.update_partial(t.level(0), torch.zeros(5, 5).bool()), ValueError, "of pixels or .2, 2. of tiles"),
        (lambda t: t.update_partial(t.level(0), torch.zeros(32, 32)), TypeError, "changed takes a bool tensor or a"),
        (lambda t: t.release(), ValueError, "is from no pool"),
        (lambda t: t.generate_mipmaps(t.level(0)), ValueError, r"takes frames by update\(frame\)"),
        (lambda t: sc.TexturePyramid.create_persistent(), ValueError, r"pass size=\(H, W\), or resolution=\(W, H\)"),
        (lambda t: sc.TexturePyramid.create_persistent((8, 8), threshold=-1), ValueError, "threshold is -1"),
        (lambda t: sc.TexturePyramid.create_persistent((8, 8), dtype=torch.int32), TypeError, "int32, not one of"),
        (
            lambda t: sc.TexturePyramid.create_persistent((8, 8), dtype="float32"),
            TypeError,
            "takes a torch.dtype, such",
        ),
        (lambda t: sc.TexturePool(size=(8, 8), chanels=2), TypeError, "no option 'chanels'; there are channels, batch"),
    ],
)
def test_error_names_what_came(call, kind, text):
    with pytest.raises(kind, match=text):
        call(sc.TexturePyramid.create_persistent((32, 32)))


# ---- TexturePool -----------------------------------------------------------------------------------------------------


def test_pool_lends_so_many_and_says_when_none_is_left():
    pool = sc.TexturePool(2, size=(32, 32), channels=1)
    first, second = pool.acquire(), pool.acquire()
    assert first is not second
    assert pool.available == 0
    with pytest.raises(sc.UnavailableError, match="pool of 2 exhausted; release a texture"):
        pool.acquire()
    with pytest.raises(sc.UnavailableError, match="exhausted"):
        pool.acquire(block=True, timeout=0.01)
    first.release()
    assert pool.acquire() is first
    pool.release(second)
    with pytest.raises(ValueError, match="is not lent out by this pool"):
        pool.release(second)


def test_pooled_texture_starts_from_the_first_frame():
    pool = sc.TexturePool(1, resolution=(32, 16), channels=1, threshold=200)
    frame = image(1, 16, 32, dtype=torch.uint8)
    with pool.acquire() as texture:
        texture.update(255 - frame)
    with pool.acquire() as texture:
        assert bool(texture.update(frame).tiles.all())
        assert torch.equal(texture.level(0), frame)
    assert pool.available == 1


def test_pooled_texture_is_lent_as_new():
    pool = sc.TexturePool(1, size=(32, 32), channels=1, threshold=2, min_samples=1)
    frame = image(1, 32, 32, dtype=torch.uint8)
    with pool.acquire() as texture:
        texture.threshold, texture.min_samples, texture.filtering = 50.0, 9, "hybrid"
        texture.update(255 - frame)
    with pool.acquire() as texture:
        assert (texture.threshold, texture.min_samples, texture.filtering) == (2.0, 1, "exact")
        mask = torch.zeros(32, 32, dtype=torch.bool)
        mask[3, 4] = True
        damage = texture.update_partial(frame, mask)
        assert bool(damage.tiles.all())
        assert torch.equal(texture.level(0), frame)
        assert int(texture.update_partial(255 - frame, mask).count) == 1


def test_masks_may_be_numpy_arrays():
    one, other = (sc.TexturePyramid.create_persistent((40, 40), channels=1) for _ in range(2))
    frame = image(1, 40, 40, dtype=torch.uint8)
    for texture, mask in (
        (one, uniform(40, 40).numpy() > 0.9),
        (other, torch.from_numpy(uniform(40, 40).numpy() > 0.9)),
    ):
        texture.update(frame)
        texture.update_partial(255 - frame, mask)
    assert torch.equal(one.level(0), other.level(0))
    assert not torch.equal(one.level(0), frame)


def test_blocking_acquire_waits_for_a_release():
    pool = sc.TexturePool(1, size=(16, 16), channels=1)
    lent = pool.acquire()
    got = []
    waiter = threading.Thread(target=lambda: got.append(pool.acquire(block=True)))
    waiter.start()
    lent.release()
    waiter.join(10)
    assert got == [lent]


def test_frames_after_the_first_ones_are_checked_and_read_as_they_lie():
    texture = sc.TexturePyramid.create_persistent((20, 24), channels=3, threshold=2)
    frames = [image(3, 20, 24, dtype=torch.uint8, seed=seed) for seed in range(6)]
    for frame in frames[:2]:
        texture.update(frame)
    for frame in (frames[2].mT.contiguous().mT, frames[3], frames[4].permute(1, 2, 0).contiguous().permute(2, 0, 1)):
        before = texture.level(0).clone()
        damage = texture.update(frame)
        assert torch.equal(damage.tiles, changed_tiles(before, frame, threshold=2))
        assert same_as_rebuilt(texture, "edge")
    with pytest.raises(ValueError, match="frame is uint16"):
        texture.update(frames[5].to(torch.int32).to(torch.uint16))
    with pytest.raises(ValueError, match=r"\[3, 20, 20\]"):
        texture.update(frames[5][:, :, :20])
    texture.threshold, texture.min_samples = 0.0, 3
    before = texture.level(0).clone()
    one = before.clone()
    one[:, 3, 3] += 1
    assert not texture.update(one).tiles.any()
    one[:, 4, 4] += 1
    assert torch.equal(texture.update(one).tiles, changed_tiles(before, one, min_samples=3))


@pytest.mark.cuda
def test_pool_lets_one_stream_wait_for_another():
    one, other = (image(3, 64, 64, dtype=torch.uint8, seed=seed).cuda() for seed in (1, 2))
    torch.cuda.synchronize()
    pool = sc.TexturePool(1, size=(64, 64), device="cuda")
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    for _ in range(3):
        with torch.cuda.stream(first), pool.acquire() as texture:
            torch.cuda._sleep(200_000_000)  # a tenth of a second: what is queued now runs later
            texture.update(one)
        with torch.cuda.stream(second), pool.acquire() as texture:
            texture.update(other)
            base, level = texture.level(0).clone(), texture.level(2).clone()
        torch.cuda.synchronize()
        assert torch.equal(base, other)
        assert torch.equal(level, sc.TexturePyramid(other).level(2))
